"""The matrix of sandboxes: their claims, their cells by aspect and probe, and the pages."""
