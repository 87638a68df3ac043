"""Faults of the grace period: an option shortens it, or processes outside the group are killed."""

import os
from _signal import SIGKILL
from time import monotonic_ns

import exec.run as run
from faults.registry import fault, replaces

SHORT_NS = 1_000_000_000


def shortens_the_grace(applies):
    """Kill the group a second after the first signal if `applies` returns True for the run."""

    @replaces(run.Run)
    def terminate(original, self, cause):
        if not applies(self):
            original(self, cause)
            return
        self.first_signal(cause)
        self.await_end(monotonic_ns() + SHORT_NS)
        self.kill()


@fault("EXEC-KILL-02", "a run with a cap has a short grace period", "a second code path")
def a_cap_shortens_the_grace():
    shortens_the_grace(lambda each: each.request.max_output_bytes is not None)


@fault("EXEC-KILL-02", "a payload that is not read shortens the grace period", "stdin.close hangs")
def an_unread_payload_shortens_the_grace():
    shortens_the_grace(lambda each: each.input.fd >= 0)


def kill_each(pids):
    for pid in pids:
        try:
            os.kill(pid, SIGKILL)
        except OSError:
            pass


@fault("EXEC-KILL-11", "members that left the group in the grace period are killed", "psutil")
def former_members_are_killed():
    @replaces(run.Run)
    def terminate(original, self, cause):
        members = self.group.alive()
        original(self, cause)
        kill_each(members)


def holders(pipes):
    """Return the processes that have one of these pipes open, except for this one.

    pipes: the links in /proc, such as `pipe:[4711]`. An inode number alone may be that of a file
        which a process outside of the run has open.
    """
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        folder = f"/proc/{pid}/fd"
        try:
            links = {os.readlink(f"{folder}/{fd}") for fd in os.listdir(folder)}
        except OSError:
            continue
        if int(pid) != os.getpid() and not links.isdisjoint(pipes):
            found.append(int(pid))
    return found


@fault("EXEC-KILL-11", "processes outside the group that hold the pipes are killed", "fuser -k")
def whoever_holds_the_pipes_is_killed():
    @replaces(run.Run)
    def drain(original, self):
        original(self)
        if self.detached:
            open_ones = [each.fd for each in self.outputs if each.fd >= 0]
            kill_each(holders({os.readlink(f"/proc/self/fd/{fd}") for fd in open_ones}))
