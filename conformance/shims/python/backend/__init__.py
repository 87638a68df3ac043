"""Sandbox backends in plain Python, built in another way than the reference."""
