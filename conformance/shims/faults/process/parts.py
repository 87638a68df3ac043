"""Helpers that several faults of processes share."""

import _signal
import os

import process.bridge as bridge
from faults.registry import replaces

# Whom a SIGCONT goes to, where it goes to too few.


def to_nobody(process):
    pass


def to_the_leader_alone(process):
    if not process.reaped:
        os.kill(process.pid, _signal.SIGCONT)


def is_woken_by_each_signal():
    """Behind the first, too: only that one ends the original's wait."""

    @replaces(bridge.Bridge)
    def relay(original, self, relays, until):
        told, self.signalled = self.signalled, False
        try:
            return original(self, relays, until)
        finally:
            self.signalled = told
