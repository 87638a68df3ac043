"""Mistakes with the contract process."""
