"""Faults of bridges: streams that are closed early, stops, and signals in each phase."""

import _signal
import os

import exec.signals as signals
import process.bridge as bridge
import startup
from faults.registry import fault, replaces


@fault("PROCESS-BRIDGE-15", "the end of input ends the output too", "shutdown(SHUT_RDWR)")
def the_end_of_input_ends_the_output():
    ended: list[bool] = []

    @replaces(bridge.Relay)
    def read(original, self):
        got = original(self)
        if self.source == 0 and not got:
            ended.append(True)
        return got

    @replaces(bridge.Bridge)
    def end_sides(original, self):
        original(self)
        if ended and self.relays[1].target >= 0:
            self.relays[1].target = -1
            original(self)


@fault("PROCESS-BRIDGE-15", "the end of stdout ends the input", "a socket instead of two pipes")
def the_end_of_stdout_ends_the_input():
    @replaces(bridge.Bridge)
    def end_sides(original, self):
        original(self)
        if self.relays[1].source < 0:
            self.process.close_stream(0)
            self.relays[0].target = -1


@fault("PROCESS-BRIDGE-15", "the end of stderr ends stdout", "one pipe for both")
def the_end_of_stderr_ends_stdout():
    @replaces(bridge.Bridge)
    def end_sides(original, self):
        original(self)
        if self.relays[2].source < 0 and not self.relays[1].rest:
            self.relays[1].source = -1


@fault("PROCESS-BRIDGE-16", "a stopped child is taken for its end", "WUNTRACED")
def a_stopped_child_is_the_end():
    @replaces(bridge.Bridge)
    def until_the_end(original, self):
        while self.grace_is_used() or not self.process.settled():
            self.relay(self.relays, bridge.monotonic_ns() + 20_000_000)
            if self.process.group.leader_stop():
                self.process.signal(_signal.SIGKILL)
            self.escalate()
        return self.process.ended()


@fault("PROCESS-BRIDGE-17", "a signal before the program runs is dropped", "pending = 0")
def a_signal_during_set_up_is_dropped():
    @replaces(bridge.Bridge)
    def open(original, self, guard):
        opened = original(self, guard)
        signals.handlers.collect()
        self.watch.noted.clear()
        return opened


@fault(
    "PROCESS-BRIDGE-01",
    "at the end only as much output is passed on as fits into the pipe",
    "a last flush()",
)
def only_the_rest_that_fits_is_passed_on():
    @replaces(bridge.Bridge)
    def pass_the_rest_on(original, self):
        while self.relay(self.relays[1:], bridge.monotonic_ns() + 20_000_000):
            pass


@fault("PROCESS-BRIDGE-03", "data in the grace period restarts it", "a timeout for each poll()")
def data_restarts_the_grace():
    @replaces(bridge.Bridge)
    def relay(original, self, relays, until):
        moved = original(self, relays, until)
        if moved and self.until is not None:
            self.until = bridge.monotonic_ns() + self.grace_ms() * 1_000_000
        return moved


@fault("PROCESS-BRIDGE-19", "a closed stdin is replaced by a pipe that never ends", "pipe()")
def a_closed_stdin_never_ends():
    @replaces(startup)
    def open_missing_stdio(original):
        try:
            os.fstat(0)
        except OSError:
            os.pipe()  # the read end is 0, and the write end stays open
        original()
