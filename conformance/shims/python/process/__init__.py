"""The contract process in plain Python."""
