"""Faults against the contract sbpl, a file for each topic of requirement ids."""
