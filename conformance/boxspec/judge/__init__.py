"""Verdicts, requirements, and the results of a run that are computed from them."""
