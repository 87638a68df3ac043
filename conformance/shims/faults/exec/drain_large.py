"""Faults of amounts that are larger than usual."""

import exec.run as run
import exec.streams as streams
from faults.registry import fault, replaces


@fault("EXEC-DRAIN-02", "after the end two buffers are read", "a pipe holds 64 KiB at most")
def after_the_end_two_buffers_are_read():
    @replaces(run.Run)
    def drain(original, self):
        before = [output.length for output in self.outputs]
        original(self)
        for output, length in zip(self.outputs, before, strict=True):
            if output.length - length > 2 * streams.CHUNK:
                output.kept = [b"".join(output.kept)[: length + 2 * streams.CHUNK]]


@fault("EXEC-DRAIN-02", "stderr ends at 64 MiB", "a cap for one of the two")
def stderr_ends_at_64_mib():
    @replaces(streams.Output)
    def keep(original, self, chunk):
        full = self.name == "stderr" and self.length > 64 * 2**20
        return b"" if full else original(self, chunk)
