"""The module contract in plain Python."""
