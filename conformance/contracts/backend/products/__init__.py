"""The matrix of sandboxes: their claims, cells by aspect and probe, and pages that show them."""
