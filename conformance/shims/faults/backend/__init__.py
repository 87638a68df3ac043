"""Mistakes with sandbox backends."""
