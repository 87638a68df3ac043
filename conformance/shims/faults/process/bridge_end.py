"""Faults of bridges around the end of the child."""

import _signal
import os
import select
from time import monotonic_ns

import process.bridge as bridge
from faults.process.parts import is_woken_by_each_signal
from faults.registry import fault, replaces


@fault(
    "PROCESS-BRIDGE-11",
    "each output of any process extends the limit for the remaining output",
    "a timer that each read() restarts",
)
def whoever_writes_is_waited_for():
    @replaces(bridge)
    def still_owed(original, relays, whole):
        return -sum(each.passed for each in relays)


@fault(
    "PROCESS-BRIDGE-12",
    "input after the child's end wakes the bridge again and again",
    "stdin stays in the poll set",
)
def input_behind_the_end_wakes_it():
    @replaces(bridge.Bridge)
    def relay(original, self, relays, until):
        poll = select.poll()
        poll.register(0, select.POLLIN)
        wakes = self.process.reaped and any(each & select.POLLIN for _, each in poll.poll(0))
        return original(self, relays, 0 if wakes else until)


@fault(
    "PROCESS-BRIDGE-12",
    "a signal after the child's end wakes the bridge again and again",
    "a self-pipe without a reader",
)
def a_signal_behind_the_end_wakes_it():
    @replaces(bridge.Bridge)
    def relay(original, self, relays, until):
        if self.process.reaped and _signal.SIGTERM in self.watch.noted:
            self.signalled = True  # keeps the original from polling
            return original(self, relays, 0)
        return original(self, relays, until)


@fault(
    "PROCESS-BRIDGE-04",
    "after the first signal the child has no watcher",
    "removeListener() in close()",
)
def who_ends_it_has_no_watcher():
    @replaces(bridge.Bridge)
    def open(original, self, guard):
        self.guard = guard
        return original(self, guard)

    @replaces(bridge.Bridge)
    def escalate(original, self):
        told = self.signalled
        original(self)
        if self.signalled and not told:
            os.write(self.guard, b"0\n")


@fault("PROCESS-BRIDGE-03", "a second SIGINT kills the child", "press Ctrl-C again to force")
def a_second_int_is_a_kill():
    @replaces(bridge.Bridge)
    def escalate(original, self):
        original(self)
        ints = self.watch.noted.count(_signal.SIGINT)
        if self.signalled and ints and len(self.watch.noted) > 1 and not self.killed:
            self.killed, self.until = True, None
            self.process.signal(_signal.SIGKILL)

    is_woken_by_each_signal()


@fault(
    "PROCESS-BRIDGE-08",
    "the end of the output is taken for the end of the child",
    "for line in proc.stdout",
)
def the_end_of_the_output_is_the_childs():
    @replaces(bridge.Bridge)
    def end_sides(original, self):
        original(self)
        if all(each.source < 0 and each.done() for each in self.relays[1:]):
            self.process.signal(_signal.SIGKILL)


@fault(
    "PROCESS-BRIDGE-02",
    "after the end of input the child has the grace, and is killed",
    "a server must end at EOF",
)
def the_end_of_input_begins_the_grace():
    @replaces(bridge.Bridge)
    def end_sides(original, self):
        original(self)
        if self.relays[0].done() and self.until is None and not self.signalled:
            self.until = monotonic_ns() + self.grace_ms() * 1_000_000


@fault(
    "PROCESS-BRIDGE-01",
    "after a signal no output is passed on until the group has ended",
    "stop the relays, then close",
)
def no_output_is_passed_on_in_the_grace():
    @replaces(bridge.Bridge)
    def relay(original, self, relays, until):
        stops = self.signalled and self.process.end is None
        return original(self, [] if stops else relays, until)


@fault("PROCESS-BRIDGE-02", "input that the child leaves unread is an error", "EPIPE in the copier")
def unread_input_is_an_error():
    @replaces(bridge.Relay)
    def turn(original, self, ready):
        owed = self.source == 0 and self.rest
        moved = original(self, ready)
        if owed and self.target < 0:
            self.failure = "Broken pipe"
        return moved
