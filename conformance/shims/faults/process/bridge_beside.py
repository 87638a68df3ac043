"""Faults of bridges that receive a signal while data is passed on, or after the end of input."""

from time import monotonic_ns

import exec.signals as signals
import process.bridge as bridge
from faults.registry import fault, replaces


@fault("PROCESS-BRIDGE-17", "a signal after the child's end is ignored", "if (child) kill()")
def a_signal_after_the_end_is_ignored():
    @replaces(bridge.Bridge)
    def pass_the_rest_on(original, self):
        self.watch = signals.Watch()
        original(self)


@fault("PROCESS-BRIDGE-01", "after a signal no input is passed on", "stdin.destroy()")
def no_input_is_passed_on_in_the_grace():
    @replaces(bridge.Bridge)
    def relay(original, self, relays, until):
        grace = self.signalled and len(relays) == 3
        return original(self, relays[1:] if grace else relays, until)


@fault("PROCESS-BRIDGE-07", "the end of input in the grace ends the grace", "on('end', kill)")
def the_end_of_input_ends_the_grace():
    @replaces(bridge.Bridge)
    def escalate(original, self):
        original(self)
        if self.until is not None and self.relays[0].done():
            self.until = monotonic_ns()


@fault("PROCESS-BRIDGE-07", "after the end of input a signal is a kill", "if (stdin.destroyed)")
def a_signal_after_the_input_is_a_kill():
    @replaces(bridge.Bridge)
    def grace_ms(original, self):
        return 0 if self.relays[0].done() else original(self)
