"""Observe from outside: processes, events of fixture programs, files, and times."""
