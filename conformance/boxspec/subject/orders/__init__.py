"""Forced orders: a run whose events happen in a chosen order, at chosen system calls."""
