"""Write the outputs of a run: the console, the JSON, and the formats made from the JSON."""
