"""Faults of reading the output after the cap, or after a signal to the caller."""

from time import monotonic_ns

import exec.run as run
import exec.streams as streams
from faults.registry import fault, replaces


@fault(
    "EXEC-DRAIN-03",
    "if one stream exceeds the cap, the other one is not read to its end",
    "close() of both pipes at the cap",
)
def the_other_stream_ends_with_the_capped_one():
    @replaces(run.Run)
    def end_group(original, self, cause):
        original(self, cause)
        if cause.name == "cap":
            for output in self.outputs:
                if not output.over and output.length + streams.CHUNK <= output.cap:
                    output.close()


@fault(
    "EXEC-DRAIN-08",
    "a signal while the rest of the output is read restarts the time limit for it",
    "a timeout for each poll()",
)
def a_signal_restarts_the_linger_time():
    @replaces(run.Run)
    def drain(original, self):
        limit = monotonic_ns() + run.LINGER_NS
        if self.deadline is not None:
            limit = min(limit, max(self.deadline, monotonic_ns()))
        seen = len(self.watch.noted)
        while any(output.fd >= 0 for output in self.outputs) and monotonic_ns() < limit:
            self.turn(limit)
            if len(self.watch.noted) > seen:
                seen = len(self.watch.noted)
                limit = monotonic_ns() + run.LINGER_NS
        self.detached = any(output.fd >= 0 for output in self.outputs)


@fault(
    "EXEC-DRAIN-07",
    "after a signal to the caller, output is read only when the group has ended",
    "kill(); wait(); read()",
)
def output_after_a_signal_is_read_at_the_end():
    @replaces(run.Run)
    def terminate(original, self, cause):
        if cause.name == "parent_signal":
            outputs, self.outputs = self.outputs, []
            original(self, cause)
            self.outputs = outputs
        else:
            original(self, cause)
