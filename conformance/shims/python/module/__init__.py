"""The contract module in plain Python."""
