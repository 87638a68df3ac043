"""Durations in the answer to hello. A name that ends with NS is in nanoseconds."""

GRACE_NS = 5_000_000_000
TICK_NS = 100_000_000
BRIDGE_GRACE_MS = 1_500
