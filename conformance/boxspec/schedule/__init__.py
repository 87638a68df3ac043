"""The pytest plugin: it selects the tests, puts them in order, and runs some of them in
parallel."""
