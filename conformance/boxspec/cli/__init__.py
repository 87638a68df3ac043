"""The command line. Each verb has its own file."""
