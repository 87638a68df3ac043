"""Faults against the contract policy, a file for each topic of requirement ids."""
