"""The matrix of sandboxes: claims, cells by aspect and probe, and how they are shown."""
