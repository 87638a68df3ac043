"""Faults of large amounts of output."""

import exec.streams as streams
from faults.registry import fault, replaces


@fault("EXEC-DRAIN-02", "output beyond 64 MiB is dropped in silence", "a ring buffer; maxBuffer")
def output_beyond_64_mib_is_dropped():
    @replaces(streams.Output)
    def keep(original, self, chunk):
        room = 64 * 2**20 - self.length
        return original(self, chunk[:room]) if self.cap is None else original(self, chunk)


@fault(
    "EXEC-DRAIN-02", "each pipe is read once after the end", "a last read() of a pipe's usual size"
)
def each_pipe_is_read_once_after_the_end():
    import exec.run as run

    @replaces(run.Run)
    def drain(_original, self):
        for output in self.outputs:
            if output.fd >= 0:
                self.take(output)
        self.detached = any(output.has_writer() for output in self.outputs)


@fault("EXEC-DRAIN-08", "each byte of an escapee extends the wait", "read() with a timeout")
def an_escapee_that_writes_extends_the_wait():
    from time import monotonic_ns

    import exec.run as run

    @replaces(run.Run)
    def drain(original, self):
        until = monotonic_ns() + run.LINGER_NS
        before = sum(output.length for output in self.outputs)
        while any(output.fd >= 0 for output in self.outputs) and monotonic_ns() < until:
            self.turn(until)
            length = sum(output.length for output in self.outputs)
            if length > before:
                before, until = length, monotonic_ns() + run.LINGER_NS
        self.detached = any(output.fd >= 0 for output in self.outputs)
