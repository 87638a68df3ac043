"""Code that several contracts use: policy files, the meaning of globs, runs in a sandbox."""
