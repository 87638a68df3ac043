"""Define verdicts and requirements, and compute the results of a run from them."""
