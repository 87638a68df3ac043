"""Faults against the sbpl contract: a file a topic, named as in the ids of its requirements."""
