"""Faults about data in the streams."""

import process.script as script
from faults.registry import fault, replaces


@fault("PROCESS-BYTES-01", "input is cut at a NUL", "C strings")
def input_ends_at_a_nul():
    @replaces(script.Step)
    def write(original, self, fd):
        whole, self.data = self.data, self.data.replace(b"\0", b"")
        original(self, fd)
        return {"written": len(whole)}


@fault("PROCESS-BYTES-01", "data that does not fit the pipe is lost", "one write, not all of them")
def one_write():
    @replaces(script.Step)
    def write(original, self, fd):
        whole, self.data = self.data, self.data[:65536]
        original(self, fd)
        return {"written": len(whole)}


@fault("PROCESS-BYTES-01", "data read together with a line is lost", "a bufio.Reader for each line")
def what_came_with_a_line_is_lost():
    @replaces(script.Step)
    def read_until(original, self, fd):
        got = b""
        while self.data not in got and (piece := script.read(fd, 4096)):
            got += piece
        found, until, _ = got.partition(self.data)
        return {"data_b64": script.base64(found + until), "eof": not until}


@fault("PROCESS-BYTES-01", "stderr is cut", "a buffer for messages")
def stderr_is_cut():
    @replaces(script.Step)
    def read_eof(original, self, fd):
        told = original(self, fd)
        return {**told, "bytes": min(told["bytes"], 1_000_000)} if self.stream == 2 else told


@fault(
    "PROCESS-BYTES-02",
    "a write that failed with EPIPE is reported as complete",
    "write() without its callback",
)
def told_as_written():
    @replaces(script.Step)
    def write(original, self, fd):
        told = original(self, fd)
        return {"written": len(self.data)} if told.get("errno") == "EPIPE" else told


@fault("PROCESS-BYTES-02", "a failed write ends the child", "stream.pipeline()")
def a_failed_write_ends_the_child():
    @replaces(script.Step)
    def write(original, self, fd):
        told = original(self, fd)
        if "errno" in told and self.handle.process is not None:
            self.handle.process.signal(9)
            self.handle.process.wait(5000)
        return told


@fault(
    "PROCESS-BYTES-01",
    "a word is missed if it begins inside a failed partial match",
    "a state machine of one state",
)
def a_word_does_not_begin_anew():
    @replaces(script.Step)
    def read_until(original, self, fd):
        got, matched = b"", 0
        while matched < len(self.data) and (byte := script.read(fd, 1)):
            got += byte
            matched = matched + 1 if byte[0] == self.data[matched] else 0
        return {"data_b64": script.base64(got), "eof": matched < len(self.data)}


@fault("PROCESS-BYTES-01", "writing no bytes closes stdin", "if not data: close()")
def nothing_is_the_end():
    @replaces(script.Step)
    def write(original, self, fd):
        if not self.data:
            self.handle.process.close_stream(0)
        return original(self, fd)
