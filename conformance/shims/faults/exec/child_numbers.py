"""Faults that depend on the numbers of descriptors, or on the limits of a process."""

import os
import resource

import exec.spawn as spawn
from faults.limits import raise_to_the_hard_limit
from faults.registry import fault, replaces

LAST_OF_SELECT = 1023


@fault("EXEC-CHILD-09", "the report pipe of the child takes number 3", "dup2(report, 3)")
def the_report_pipe_takes_number_3():
    @replaces(spawn.Spawn)
    def child(original, self, stdio, report):
        if report != 3:
            os.dup2(report, 3, inheritable=False)
        original(self, stdio, 3)


@fault("EXEC-CHILD-09", "inherited descriptors from 256 on are closed", "OPEN_MAX of 256")
def numbers_from_256_on_are_closed():
    @replaces(spawn.Spawn)
    def reset_signals(original, self):
        original(self)
        os.closerange(256, 1024)


@fault("EXEC-CHILD-08", "the child has the largest possible stack", "a supervisor's ulimit -s")
def the_child_has_the_largest_stack():
    @replaces(spawn.Spawn)
    def reset_signals(original, self):
        original(self)
        raise_to_the_hard_limit(resource.RLIMIT_STACK)


@fault("EXEC-CHILD-04", "only numbers below 1024 are closed in the child", "FD_SETSIZE")
def own_numbers_above_1023_stay_open():
    @replaces(spawn.Spawn)
    def pipe(original, self):
        ends = original(self)
        for fd in ends:
            os.set_inheritable(fd, fd > LAST_OF_SELECT)
        return ends
