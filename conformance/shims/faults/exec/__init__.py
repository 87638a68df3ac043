"""Faults against the exec contract: a file a topic, named as in the ids of its requirements."""
