"""The outputs of a run: console, JSON, and all formats that are made from the JSON."""
