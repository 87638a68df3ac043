"""Faults of the grace period that need several runs with different ends."""

from time import monotonic_ns

import constants
import exec.run as run
from faults.registry import fault, replaces


@fault(
    "EXEC-KILL-02",
    "the grace period of the first run that is ended is that of all later runs",
    "a static deadline",
    role="order",
)
def one_grace_for_all_runs():
    ends = []

    @replaces(run.Run)
    def terminate(original, self, cause):
        self.first_signal(cause)
        ends.append(monotonic_ns() + constants.GRACE_NS)
        if not self.await_end(ends[0]) or not run.proc_is_ours():
            self.kill()
