"""Mistakes with bridges."""

import os
from time import sleep

import process.bridge as bridge
from faults.registry import fault, replaces


@fault("PROCESS-BRIDGE-01", "stderr is dropped", "stderr=DEVNULL")
def stderr_is_dropped():
    @replaces(bridge.Lane)
    def turn(original, self, ready):
        if self.target == 2:
            self.target = -1
        return original(self, ready)


@fault("PROCESS-BRIDGE-01", "output is held until there is a block of it", "stdio buffering")
def output_is_held():
    @replaces(bridge.Lane)
    def interests(original, self):
        found = original(self)
        if self.target == 1 and self.rest and self.rest.endswith(b"\n") and len(self.rest) < 100:
            return []
        return found


@fault("PROCESS-BRIDGE-02", "the end of input is not passed on", "one side of a relay")
def the_end_is_not_passed_on():
    @replaces(bridge.Bridge)
    def end_sides(original, self):
        for stream, lane in enumerate(self.lanes):
            if stream and lane.done():
                self.process.close_stream(stream)


@fault("PROCESS-BRIDGE-03", "the grace is that of a run", "one constant")
def five_seconds():
    @replaces(bridge.Bridge)
    def grace_ms(original, self):
        return 5_000


@fault("PROCESS-BRIDGE-03", "a signal is a kill", "no grace at all")
def a_signal_is_a_kill():
    @replaces(bridge.Bridge)
    def grace_ms(original, self):
        return 0


@fault("PROCESS-BRIDGE-04", "nobody watches the bridge", "atexit")
def nobody_watches():
    @replaces(bridge.Bridge)
    def open(original, self, guard):
        return original(self, -1)


@fault("PROCESS-BRIDGE-04", "the watcher is told when the child runs", "spawn, then register")
def the_watcher_is_told_later():
    @replaces(bridge.Bridge)
    def open(original, self, guard):
        made = original(self, -1)
        sleep(0.3)
        os.write(guard, b"%d\n" % made.pid)
        return made


@fault("PROCESS-BRIDGE-05", "its own streams are set non-blocking", "event loops")
def streams_are_set_nonblocking():
    @replaces(bridge.Bridge)
    def run(original, self):
        os.set_blocking(0, False)
        os.set_blocking(1, False)
        return original(self)


@fault("PROCESS-BRIDGE-06", "everything is read, whoever takes it", "an unbounded queue")
def an_unbounded_queue():
    @replaces(bridge.Lane)
    def interests(original, self):
        found = original(self)
        if self.target == 1 and self.rest and self.source >= 0:
            found = [*found, (self.source, bridge.select.POLLIN)]
        return found

    @replaces(bridge.Lane)
    def turn(original, self, ready):
        if self.target == 1 and self.rest and ready.get(self.source, 0):
            try:
                piece = os.read(self.source, 1 << 20)
            except BlockingIOError:
                piece = b""
            self.kept = [*getattr(self, "kept", []), piece]
        elif self.target == 1 and not self.rest and getattr(self, "kept", []):
            self.rest = b"".join(self.kept)
            self.kept = []
        return original(self, ready)
