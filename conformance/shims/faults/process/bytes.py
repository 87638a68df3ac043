"""Mistakes with what goes through the streams."""

import process.script as script
from faults.registry import fault, replaces


@fault("PROCESS-BYTES-01", "input ends at a NUL", "C strings")
def input_ends_at_a_nul():
    @replaces(script.Step)
    def write(original, self, fd):
        whole, self.data = self.data, self.data.replace(b"\0", b"")
        original(self, fd)
        return {"written": len(whole)}


@fault("PROCESS-BYTES-01", "what does not fit the pipe is lost", "one write, not all of them")
def one_write():
    @replaces(script.Step)
    def write(original, self, fd):
        whole, self.data = self.data, self.data[:65536]
        original(self, fd)
        return {"written": len(whole)}


@fault("PROCESS-BYTES-01", "stderr is cut", "a buffer for messages")
def stderr_is_cut():
    @replaces(script.Step)
    def read_eof(original, self, fd):
        told = original(self, fd)
        return {**told, "bytes": min(told["bytes"], 1_000_000)} if self.stream == 2 else told
