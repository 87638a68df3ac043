"""The modules of reference/bench/exec/run."""
