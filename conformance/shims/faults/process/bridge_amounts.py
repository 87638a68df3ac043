"""Faults of bridges and handles that depend on an amount, on an earlier step or on a stream."""

import os

import process.bridge as bridge
from faults.registry import fault, replaces

MOST = 64 * 1024 * 1024


@fault(
    "PROCESS-BRIDGE-18", "the stderr of the bridge is made non-blocking", "setBlocking(2, false)"
)
def stderr_does_not_block():
    @replaces(bridge.Bridge)
    def run(original, self):
        os.set_blocking(2, False)
        return original(self)


@fault("PROCESS-BRIDGE-01", "input of more than 64 MiB is cut", "a limit of the reader")
def long_input_is_cut():
    @replaces(bridge.Relay)
    def read(original, self):
        data = original(self)
        return b"" if self.source == 0 and self.passed >= MOST else data
