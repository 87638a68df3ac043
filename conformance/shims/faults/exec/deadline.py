"""A helper for faults that move the deadline of a run."""

from time import monotonic_ns


def restart_deadline(run):
    """Let the timeout begin again now; the original counts from the start of the spawn."""
    if run.request.timeout_ms is not None:
        run.deadline = monotonic_ns() + run.request.timeout_ms * 1_000_000
