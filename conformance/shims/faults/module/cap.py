"""Faults in the limit for a module's output."""

import exec.run as run
import exec.streams as streams
import module.execution as execution
from faults.registry import fault, replaces

BIG = 60_000_000


@fault("MODULE-CAP-01", "the limit is 64,000,000 bytes instead of 64 MiB", "MB for MiB")
def decimal_megabytes():
    execution.MOST_BYTES = 64_000_000


@fault("MODULE-CAP-01", "output of exactly the limit is an error", ">= for >")
def exactly_the_cap_is_too_much():
    @replaces(streams.Output)
    def keep(original, self, chunk):
        kept = original(self, chunk)
        self.over = self.over or self.length == self.cap
        return kept


@fault("MODULE-CAP-02", "the error always names stdout", "one limit, one name")
def always_stdout():
    @replaces(execution.Execution)
    def judge_size(original, self, ended):
        if ended["over"]:
            raise execution.Failure("OutputSizeExceeded", stream="stdout")


@fault("MODULE-CAP-02", "output above the limit is dropped without an error", "AsyncRead::take")
def the_rest_is_dropped():
    @replaces(streams.Output)
    def keep(original, self, chunk):
        kept = original(self, chunk)
        self.over = False
        return kept

    @replaces(execution.values)
    def decode(original, data):
        return original(data) if len(data) < BIG or data.strip() else 1


@fault(
    "MODULE-CAP-03", "the limit is checked only when both streams have ended", "join of two tasks"
)
def looks_when_both_have_ended():
    @replaces(run.Run)
    def look(original, self):
        overs = [output.over for output in self.outputs]
        for output in self.outputs:
            output.over = False
        cause = original(self)
        for output, over in zip(self.outputs, overs, strict=True):
            output.over = over or output.over
        return cause


@fault("MODULE-CAP-01", "the limit counts both streams together", "one counter")
def both_share_one_cap():
    @replaces(run.Run)
    def look(original, self):
        total = sum(output.length for output in self.outputs)
        if total > execution.MOST_BYTES + 1_000_000:
            self.outputs[1].over = True
        return original(self)
