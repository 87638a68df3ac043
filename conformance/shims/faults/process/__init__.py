"""Faults of the contract process."""
