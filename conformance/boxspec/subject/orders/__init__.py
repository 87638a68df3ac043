"""Force the events of a run into a chosen order. Each event happens at a system call."""
