"""Faults against the contract exec, a file for each topic of requirement ids."""
