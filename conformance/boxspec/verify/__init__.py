"""Check whether a command that confines programs meets the expectations of its user."""
