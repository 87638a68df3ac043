"""Third-party software with shims: declared, installed, judged and compared."""
