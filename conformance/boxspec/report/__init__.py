"""Write the outputs of a run: the console, and the JSON."""
