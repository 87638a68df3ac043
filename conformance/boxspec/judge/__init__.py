"""What a verdict is, what it is about, and what a run of many amounts to."""
