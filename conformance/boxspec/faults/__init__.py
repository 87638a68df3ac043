"""Runs of implementations with one mistake each, and what they must trip."""
