"""The policy contract in plain Python, built differently from the reference."""
