"""Libraries that other people make, each behind a shim of its own: declared, installed, judged."""
