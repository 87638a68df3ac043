"""Read and evaluate Seatbelt profiles without a Mac.

If a decision depends on a form of unknown meaning, it is undecidable.
"""
