"""Which tests run, in which order, beside each other or alone: the pytest plugin."""
