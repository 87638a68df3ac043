"""The twin with one mistake at a time: what a suite must catch."""
