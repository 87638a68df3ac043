"""The sbpl contract in plain Python, built differently from the reference."""
