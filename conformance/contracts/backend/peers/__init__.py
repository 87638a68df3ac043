"""Backends that nobody here wrote: which there are, how they are installed, and the matrix."""
