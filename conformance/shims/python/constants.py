"""The lengths of time that hello tells, in nanoseconds."""

GRACE_NS = 5_000_000_000
TICK_NS = 100_000_000
