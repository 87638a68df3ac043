"""Runs of the suite against implementations with one seeded fault each."""
