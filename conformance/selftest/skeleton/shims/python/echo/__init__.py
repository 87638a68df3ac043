"""The contract echo in plain Python."""
