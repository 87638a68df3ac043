"""Faults of the identity and the place of a child: privileges and kernel settings."""

import ctypes
import os

import exec.spawn as spawn
from faults.registry import fault, replaces

PR_CAPBSET_DROP, CAP_SYS_RAWIO = 24, 17
PR_SET_TIMERSLACK, SLOW_NS = 29, 50_000_000
ADDR_NO_RANDOMIZE = 0x0040000
IOPRIO_SET = {"x86_64": 251, "aarch64": 30}
IOPRIO_WHO_PROCESS, IDLE = 1, 3 << 13


def in_the_child(change):
    """Change the child directly before it executes the program."""

    @replaces(spawn.Spawn)
    def reset_signals(original, self):
        original(self)
        change(ctypes.CDLL(None))


@fault("EXEC-CHILD-11", "the child has a smaller capability bounding set", "a hardening default")
def the_bounding_set_is_smaller():
    in_the_child(lambda libc: libc.prctl(PR_CAPBSET_DROP, CAP_SYS_RAWIO, 0, 0, 0))


@fault("EXEC-CHILD-11", "the child has the I/O class idle", "ionice -c 3")
def the_child_has_the_io_class_idle():
    number = IOPRIO_SET.get(os.uname().machine)
    in_the_child(lambda libc: number and libc.syscall(number, IOPRIO_WHO_PROCESS, 0, IDLE))


@fault("EXEC-CHILD-11", "the child runs without address randomisation", "setarch -R, as gdb does")
def the_child_has_no_randomisation():
    in_the_child(lambda libc: libc.personality(ADDR_NO_RANDOMIZE))


@fault("EXEC-CHILD-11", "the timers of the child are 50 ms late", "PR_SET_TIMERSLACK of a daemon")
def the_child_has_slow_timers():
    in_the_child(set_slack)


def set_slack(libc):
    libc.prctl(PR_SET_TIMERSLACK, SLOW_NS, 0, 0, 0)
