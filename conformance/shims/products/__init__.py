"""Shims around third-party sandboxes and libraries."""
