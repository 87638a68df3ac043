"""Third-party software behind shims: declared, installed, judged and compared."""
