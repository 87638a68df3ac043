"""Durations that the answer to hello contains, in nanoseconds if the name says so."""

GRACE_NS = 5_000_000_000
TICK_NS = 100_000_000
BRIDGE_GRACE_MS = 1_500
