"""Read and evaluate Seatbelt profiles without a Mac; unknown forms are undecidable."""
