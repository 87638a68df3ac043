"""The pytest plugin: which tests run, in which order, and which run in parallel."""
