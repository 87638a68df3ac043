"""Generated programs: run them in a sandbox, and watch what they change outside."""
