"""The parts of reference/bench/exec/run."""
