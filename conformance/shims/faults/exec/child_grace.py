"""Faults of descriptors that a run opens in its grace period."""

import os

import exec.group as group
from faults.registry import fault, replaces


@fault("EXEC-CHILD-04", "the pidfd of a member is inherited", "a pidfd made inheritable")
def the_pidfd_of_a_member_is_inherited():
    @replaces(group.Ending)
    def left(original, self, fired):
        members = original(self, fired)
        if self.fd >= 0:
            os.set_inheritable(self.fd, True)
        return members
