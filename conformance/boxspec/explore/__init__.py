"""Generated programs: run them in a sandbox, and watch their effects outside."""
