"""Seatbelt profiles read and decided without a Mac; what is not known is undecidable."""
