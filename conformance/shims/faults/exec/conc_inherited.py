"""Faults whose descriptors reach the children of concurrent runs."""

import os

import exec.group as group
import exec.run as run
import exec.tee as tee
from faults.registry import fault, replaces


@fault(
    "EXEC-CONC-04", "the descriptor of the debug copy is inheritable", "open() without O_CLOEXEC"
)
def the_debug_copy_is_inherited():
    @replaces(tee.Tee)
    def open(original, self):
        fd = original(self)
        if fd >= 0:
            os.set_inheritable(fd, True)
        return fd


@fault("EXEC-CONC-04", "the pidfd of a run is inheritable", "fcntl(F_DUPFD)")
def the_pidfd_is_inherited():
    @replaces(group.Group, "__init__")
    def init(original, self, leader):
        original(self, leader)
        if self.pidfd >= 0:
            os.set_inheritable(self.pidfd, True)


@fault("EXEC-CONC-04", "the payload's end is inheritable once a part is written", "dup() to write")
def a_half_written_payload_is_inherited():
    @replaces(run.Run)
    def turn(original, self, until):
        ready = original(self, until)
        if self.input.fd >= 0:
            os.set_inheritable(self.input.fd, True)
        return ready
