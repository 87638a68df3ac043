"""Faults of sandbox backends."""
