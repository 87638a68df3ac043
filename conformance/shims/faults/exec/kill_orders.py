"""Faults of the grace period that forced orders find."""

from time import monotonic_ns

import constants
import exec.group as group
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


@fault("EXEC-KILL-03", "a stopped member counts as ended", "state != R, S or D", role="order")
def a_stopped_member_counts_as_ended():
    @replaces(group.Member)
    def alive(original, self):
        return original(self) and self.state not in b"Tt"
