"""One result tree, many outputs."""
