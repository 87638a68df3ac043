"""Faults of large amounts of data and of writes at the same time."""

import process.script as script
from faults.registry import fault, replaces


@fault("PROCESS-BYTES-01", "a line longer than 64 KiB is cut", "fgets() with a fixed buffer")
def a_long_line_is_cut():
    @replaces(script.Step)
    def read_until(original, self, fd):
        got = b""
        while not got.endswith(self.data) and len(got) < 65536:
            byte = script.read(fd, 1)
            if not byte:
                return {"data_b64": script.base64(got), "eof": byte is not None}
            got += byte
        return {"data_b64": script.base64(got), "eof": False}


@fault(
    "PROCESS-BYTES-01", "output is cut after a read that fills the buffer", "while (n < sizeof buf)"
)
def an_exact_multiple_is_cut():
    @replaces(script.Step)
    def read_eof(original, self, fd):
        from hashlib import sha256

        data = b""
        while piece := script.read(fd, script.SHORT):
            data += piece
            if len(data) % 2**20 == 0:
                break
        summary = {"bytes": len(data), "sha256": sha256(data).hexdigest()}
        return {**summary, "data_b64": script.base64(data)} if len(data) <= 65536 else summary


@fault("PROCESS-BYTES-01", "a write ends at 8 MiB", "a 23-bit length field")
def a_write_ends_at_8_mib():
    @replaces(script.Step)
    def write(original, self, fd):
        whole = len(self.data)
        self.data = self.data[: 8 * 2**20]
        told = original(self, fd)
        return {**told, "written": whole} if "errno" not in told else told


@fault("PROCESS-BYTES-03", "writes of two threads mix", "a write() loop without a lock")
def writes_of_two_threads_mix():
    class NoLock:
        def __enter__(self):
            pass

        def __exit__(self, *why):
            pass

    @replaces(script.Handle, "__init__")
    def init(original, self, request, modes, nonblocking):
        original(self, request, modes, nonblocking)
        self.writing = NoLock()


@fault("PROCESS-BYTES-01", "output of more than 64 MiB is cut", "maxBuffer")
def long_output_is_cut():
    read_bytes = {"count": 0}

    @replaces(script)
    def read(original, fd, most):
        piece = original(fd, most)
        read_bytes["count"] += len(piece or b"")
        return b"" if read_bytes["count"] > 64 * 1024 * 1024 else piece
