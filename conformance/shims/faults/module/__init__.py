"""Mistakes with the contract module."""
