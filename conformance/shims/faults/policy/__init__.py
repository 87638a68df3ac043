"""Faults against the policy contract: a file a topic, named as in the ids of its requirements."""
