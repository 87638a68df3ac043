"""Observations from outside: processes, events of fixture programs, and their times."""
