"""Mistakes with the contract echo."""
