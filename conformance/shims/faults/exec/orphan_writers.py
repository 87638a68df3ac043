"""Faults in the report of a writer that was killed."""

import exec.run as run
from faults.registry import fault, replaces


@fault("EXEC-ORPHAN-07", "a killed writer is not reported", "killpg() and no more")
def a_killed_writer_is_not_reported():
    @replaces(run.Run)
    def end_after_exit(original, self):
        original(self)
        self.killed_writers = False


@fault("EXEC-ORPHAN-07", "a writer that left the group is reported as killed", "no EOF at the exit")
def a_writer_that_left_the_group_is_reported_as_killed():
    @replaces(run.Run)
    def end_after_exit(original, self):
        held = any(output.has_writer() for output in self.outputs)
        original(self)
        self.killed_writers = held


@fault("EXEC-ORPHAN-07", "each member that is killed is reported as a writer", "group_left before")
def each_member_is_reported_as_a_writer():
    @replaces(run.Run)
    def end_after_exit(original, self):
        members = self.group.alive()
        original(self)
        self.killed_writers = bool(members)
