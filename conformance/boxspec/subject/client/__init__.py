"""The protocol: requests, answers and their shapes, in files and in lines."""
