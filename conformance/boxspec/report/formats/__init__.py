"""Write a result in the formats of other programs, and as pages."""
