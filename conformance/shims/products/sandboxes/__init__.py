"""The adapters. Each has its own file, whose name is the name of the backend."""
