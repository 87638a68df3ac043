"""Read and evaluate Seatbelt profiles without a Mac. A form of unknown meaning makes a decision
undecidable."""
