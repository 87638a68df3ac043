"""Faults of the contract module."""
