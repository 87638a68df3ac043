"""Faults about processes that a child leaves."""

import _signal
import os

import exec.group as group
import process.handle as handle
from faults.registry import fault, replaces


@fault("PROCESS-GROUP-01", "leftover members of the group keep running", "waitpid(pid)")
def the_rest_is_left():
    @replaces(handle.Process)
    def end_group(original, self):
        if self.end != (os.CLD_EXITED, 3):
            original(self)


@fault(
    "PROCESS-GROUP-02",
    "descendants outside the group are killed too",
    "psutil's children(recursive=True)",
)
def hunts_everybody_down():
    import ctypes

    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER

    @replaces(handle.Process)
    def end_group(original, self):
        original(self)
        for each in group.processes():
            if each.ppid == os.getpid() and each.pid != self.pid and self.fds[1] >= 0:
                try:
                    # Processes of this session, such as the watcher of a bridge, must survive.
                    if os.getsid(each.pid) != os.getsid(0):
                        os.kill(each.pid, _signal.SIGKILL)
                except ProcessLookupError:
                    continue


@fault(
    "PROCESS-GROUP-01", "a wait with a limit leaves the rest of the group", "WNOHANG, another path"
)
def the_rest_is_for_waits_without_limit():
    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        self.limited = timeout_ms is not None
        return original(self, timeout_ms)

    @replaces(handle.Process)
    def end_group(original, self):
        if not getattr(self, "limited", False):
            original(self)


@fault("PROCESS-GROUP-01", "a poll that finds the end leaves the rest of the group", "try_wait()")
def a_look_leaves_the_rest():
    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        if timeout_ms != 0 or self.reaped or not self.look():
            return original(self, timeout_ms)
        self.reaped = True
        told = self.ended()
        self.reaped = False
        return told


@fault(
    "PROCESS-GROUP-02",
    "a signal goes to descendants outside the group too",
    "children(recursive=True), kill()",
)
def everybody_below_is_signalled():
    @replaces(handle.Process)
    def signal(original, self, number):
        below, found = {self.pid}, list(group.processes())
        for _ in found if not self.reaped else ():
            below |= {each.pid for each in found if each.ppid in below}
        original(self, number)
        for pid in below - {self.pid}:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue
