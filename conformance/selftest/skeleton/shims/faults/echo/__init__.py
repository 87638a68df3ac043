"""Faults of the contract echo."""
