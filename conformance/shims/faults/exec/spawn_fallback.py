"""Faults if the usual way to start a child is refused, so that the fallback is used (topic
spawn)."""

import _signal
import errno
import os

import exec.group as group
import exec.spawn as spawn
from faults.registry import fault, replaces


@fault("EXEC-SPAWN-14", "runs fail without pidfd_open", "pitfall A27: old Docker filters")
def needs_pidfd():
    @replaces(group.Group, "__init__")
    def init(original, self, leader):
        original(self, leader)
        if self.pidfd < 0:
            os.kill(leader, _signal.SIGKILL)
            os.waitpid(leader, 0)
            raise OSError(errno.ENOSYS, "")


@fault(
    "EXEC-SPAWN-14",
    "without pidfd_open only the first run of a process works",
    "a state set up twice",
)
def falls_back_once():
    first = []

    @replaces(group.Group, "__init__")
    def init(original, self, leader):
        original(self, leader)
        if self.pidfd < 0:
            first.append(leader)
        if len(first) > 1:
            os.kill(leader, _signal.SIGKILL)
            os.waitpid(leader, 0)
            raise OSError(errno.EBUSY, "")


def under_a_filter():
    with open("/proc/self/status") as status:
        return any(line.split() == ["Seccomp:", "2"] for line in status)


def in_the_fallback(method, instead):
    """Replace a method of the spawn, if a seccomp filter refuses the usual way to start a child."""

    @replaces(spawn.Spawn, method)
    def do(original, self, *given):
        return instead(self) if under_a_filter() else original(self, *given)


@fault("EXEC-SPAWN-14", "without pidfd_open the child has no group of its own", "fork() and exec()")
def fallback_forgets_the_group():
    in_the_fallback("join_group", lambda self: None)


@fault("EXEC-SPAWN-14", "without pidfd_open the child's signals are not reset", "fork() and exec()")
def fallback_forgets_the_signals():
    in_the_fallback("reset_signals", lambda self: None)


@fault(
    "EXEC-SPAWN-14",
    "without pidfd_open signals that the caller ignores are reset in the child",
    "SIG_DFL for each signal",
)
def fallback_resets_all_signals():
    reset = spawn.Spawn.reset_signals

    def reset_all(self):
        reset(self)
        _signal.signal(_signal.SIGUSR1, _signal.SIG_DFL)

    in_the_fallback("reset_signals", reset_all)


@fault("EXEC-SPAWN-14", "without pidfd_open current_dir is ignored", "fork() and exec()")
def fallback_forgets_the_directory():
    in_the_fallback("change_directory", lambda self: None)
