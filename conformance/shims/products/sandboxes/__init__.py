"""One adapter a file; its name is the name of the backend."""
