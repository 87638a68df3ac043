"""The adapters, one in each file. The name of the file is the name of the backend."""
