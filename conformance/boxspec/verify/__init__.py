"""Check a command that confines programs against the expectations of its user."""
