"""Faults of payloads: their amount and their pace."""

import os

import exec.run as run
import exec.spawn as spawn
import exec.streams as streams
from faults.exec.deadline import restart_deadline
from faults.registry import fault, replaces
from files import write_all


@fault("EXEC-STDIN-03", "the last piece of a payload is written once", "write() without a loop")
def the_last_piece_is_written_once():
    @replaces(streams.Input)
    def write(original, self):
        last = len(self.rest) <= streams.CHUNK
        before = len(self.rest)
        original(self)
        if last and 0 < len(self.rest) < before:
            self.rest = memoryview(b"")
            self.close()


@fault("EXEC-STDIN-03", "a payload ends at 32 MiB", "a limit of the buffer")
def a_payload_ends_at_32_mib():
    @replaces(streams.Input, "__init__")
    def init(original, self, fd, payload):
        original(self, fd, payload[: 32 * 2**20])


@fault("EXEC-STDIN-10", "a payload that trickles moves the deadline", "a timeout for each write")
def a_payload_that_trickles_moves_the_deadline():
    @replaces(run.Run)
    def turn(original, self, until):
        before = len(self.input.rest)
        ready = original(self, until)
        if self.deadline is not None and len(self.input.rest) < before:
            restart_deadline(self)
        return ready


@fault("EXEC-STDIN-10", "the timeout begins when the payload is written", "join(writer), then wait")
def the_timeout_begins_after_the_payload():
    @replaces(run.Run)
    def turn(original, self, until):
        was_open = self.input.fd >= 0
        ready = original(self, until)
        if self.deadline is not None and was_open and self.input.fd < 0:
            restart_deadline(self)
        return ready


@fault("EXEC-STDIN-15", "a payload of more than 1 MiB comes in a file in memory", "memfd_create()")
def a_large_payload_comes_in_a_file():
    @replaces(spawn.Spawn)
    def open_stdin(original, self):
        payload = self.request.stdin
        if not isinstance(payload, bytes) or len(payload) <= 1 << 20:
            return original(self)
        fd = os.memfd_create("payload")
        write_all(fd, payload)
        os.lseek(fd, 0, os.SEEK_SET)
        self.theirs.append(fd)
        self.request.stdin = b""
        unused = os.open("/dev/null", os.O_WRONLY)
        self.ours.append(unused)
        return unused, fd
