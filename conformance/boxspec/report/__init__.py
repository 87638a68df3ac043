"""Write the outputs of a run: the console, the JSON, and the formats that are made from the
JSON."""
