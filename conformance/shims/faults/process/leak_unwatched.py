"""A fault of a caller that has too few descriptors."""

import os

import exec.spawn as spawn
from faults.registry import fault, replaces


@fault("PROCESS-LEAK-02", "if pidfd_open fails the child is left running", "pidfd_open failed")
def an_unwatched_child_is_left():
    @replaces(spawn.Spawn)
    def fork(original, self, stdio, report):
        pid = original(self, stdio, report)
        os.close(os.pidfd_open(pid))
        return pid
