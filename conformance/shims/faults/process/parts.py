"""Helpers that several faults of processes share."""

import _signal
import os

import process.bridge as bridge
import process.handle as handle
from faults.registry import changed, replaces

# Replacements for sending SIGCONT to the group, each of which reaches too few processes.


def to_nobody(process):
    pass


def to_the_leader_alone(process):
    if not process.reaped:
        os.kill(process.pid, _signal.SIGCONT)


def notes_a_close():
    """Set `closes` at a process when its close begins. Bridges do not call close."""

    @replaces(handle.Process)
    def close(original, self, grace_ms):
        self.closes = True
        return original(self, grace_ms)


def is_woken_by_each_signal():
    """Wake the bridge at each signal. The correct bridge wakes only at the first one."""

    @replaces(bridge.Bridge)
    def relay(original, self, relays, until):
        with changed(self, signalled=False):
            return original(self, relays, until)
