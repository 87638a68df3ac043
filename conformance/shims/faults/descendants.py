"""A mistake that faults of exec and of module have in common."""

import _signal
import os

import exec.group as group
from faults.registry import replaces


def signals_go_to_descendants():
    """Find the processes for a signal by their parents, except for SIGKILL and SIGCONT."""

    @replaces(group.Group)
    def signal(original, self, number):
        if number in (_signal.SIGKILL, _signal.SIGCONT):
            original(self, number)
        else:
            signal_descendants(self.leader, number)


def signal_descendants(leader, number):
    """Signal the leader of a group and its descendants, found by their parents.

    A member whose parent has ended gets no signal, as with `pgrep -P`.
    """
    processes, found = list(group.processes()), {leader}
    while more := {p.pid for p in processes if p.ppid in found} - found:
        found |= more
    for pid in found:
        try:
            os.kill(pid, number)
        except OSError:
            pass
