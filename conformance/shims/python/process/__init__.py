"""The process contract in plain Python."""
