"""Sandbox backends in plain Python. Their design differs from that of the reference."""
