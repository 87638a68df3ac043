"""The parts of reference/bench/policy/run. The table and its statistics are the exec bench's."""
