"""Run generated programs in a sandbox, and observe their effects outside."""
