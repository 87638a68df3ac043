"""The contract sbpl in plain Python, built in another way than the reference."""
