"""Sandboxes that other people make, behind the backend contract: an adapter for each."""
