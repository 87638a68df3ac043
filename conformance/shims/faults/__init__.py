"""The Python implementation with one fault at a time, which the suite must catch."""
