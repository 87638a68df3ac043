"""Code that several contracts share: policy files, the meaning of globs, runs inside a sandbox."""
