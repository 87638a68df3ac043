"""Force the events of a run into a chosen order, at chosen system calls."""
