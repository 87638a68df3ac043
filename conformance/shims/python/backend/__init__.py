"""Sandbox backends in plain Python, built differently from the reference."""
