"""Faults in the copy of the output for debug."""

import os

import exec.redact as redact
import exec.run as run
import exec.tee as tee
from errors import Failed
from faults.registry import fault, replaces


@fault("EXEC-DEBUG-01", "with debug the output is shown and not captured", "inherit habits")
def shows_instead_of_capturing():
    @replaces(run.Run)
    def take(original, self, output):
        original(self, output)
        if self.tee:
            output.kept.clear()


@fault("EXEC-DEBUG-01", "only stdout is copied", "one of two")
def copies_stdout_only():
    @replaces(tee.Tee)
    def feed(original, self, stream, chunk):
        if stream == "stdout":
            original(self, stream, chunk)


@fault("EXEC-DEBUG-01", "there is no copy if the stderr pipe cannot be reopened", "under sudo -u")
def copies_only_where_it_may_open():
    tee.open_stderr_again = lambda: os.open("/proc/self/fd/2", os.O_WRONLY | os.O_NONBLOCK)


@fault("EXEC-DEBUG-01", "the end of the copy is lost on a slow terminal", "EAGAIN")
def drops_the_end_of_the_copy():
    tee.GOODBYE_NS = 0


@fault(
    "EXEC-DEBUG-01",
    "only one write is made each time, although there is room for more",
    "write() once",
)
def writes_once_where_there_is_room_for_more():
    writes = tee.Tee.write

    def write(self):
        held, self.queue = self.queue[tee.SURE :], self.queue[: tee.SURE]
        writes(self)
        self.queue += held

    def put(self, data):
        kept = data[: tee.ROOM - len(self.queue)]
        self.queue += kept
        self.dropped += len(data) - len(kept)
        self.write()

    tee.Tee.write, tee.Tee.put = write, put


@fault("EXEC-DEBUG-07", "a closed terminal is polled without end", "POLLERR is always ready")
def asks_a_closed_terminal_for_ever():
    def write(self):
        try:
            while self.queue and self.fd >= 0 and self.writable(0):
                self.queue = self.queue[os.write(self.fd, self.queue[: tee.SURE]) :]
        except OSError:
            return

    tee.Tee.write = write


@fault(
    "EXEC-DEBUG-06",
    "a stderr that cannot be reopened is written to without poll",
    "a blocking write()",
)
def writes_blindly_where_it_may_not_open():
    @replaces(tee.Tee)
    def writable(original, self, timeout_ms):
        return os.get_blocking(self.fd) or original(self, timeout_ms)


@fault("EXEC-DEBUG-07", "the caller's stderr is closed at the end of the copy", "close() for all")
def closes_the_callers_stderr():
    @replaces(tee.Tee)
    def close(original, self):
        if self.queue:
            os.close(2)
        original(self)


@fault("EXEC-DEBUG-06", "a terminal that blocks stops the run", "pitfall E18")
def blocks_with_the_terminal():
    tee.Tee.open = lambda self: os.dup(2)
    tee.Tee.writable = lambda self, timeout_ms: True


@fault("EXEC-DEBUG-12", "gaps of the copy are not marked", "discard()")
def leaves_out_in_silence():
    @replaces(tee.Tee)
    def put(original, self, data):
        original(self, data)
        self.dropped = 0


@fault(
    "EXEC-DEBUG-06", "at its end the copy waits too long for a slow terminal", "flush at the end"
)
def waits_for_the_terminal():
    tee.GOODBYE_NS = 3_000_000_000


@fault("EXEC-DEBUG-07", "a closed terminal is an error of the run", "pitfall E19: EPIPE")
def closed_terminal_is_an_error():
    @replaces(tee.Tee, "__init__")
    def init(original, self, values):
        original(self, values)
        if self.fd < 0:
            raise Failed("io", "cannot write to the terminal")

    @replaces(tee.Tee)
    def write(original, self):
        had = self.fd >= 0
        original(self)
        if had and self.fd < 0:
            raise Failed("io", "cannot write to the terminal")


@fault("EXEC-DEBUG-08", "the caller's stderr is made non-blocking", "fcntl on a shared description")
def sets_flags_on_stderr():
    @replaces(tee.Tee)
    def open(original, self):
        os.set_blocking(2, False)
        return original(self)


@fault("EXEC-DEBUG-08", "the caller's stderr is made blocking", "fcntl on a shared description")
def makes_stderr_blocking():
    @replaces(tee.Tee)
    def open(original, self):
        os.set_blocking(2, True)
        return original(self)


@fault("EXEC-DEBUG-01", "output in the grace period is not copied", "the copy ends with the wait")
def the_grace_is_not_copied():
    ending: list[run.Run] = []

    @replaces(run.Run)
    def first_signal(original, self, cause):
        ending.append(self)
        original(self, cause)

    @replaces(run.Run)
    def take(original, self, output):
        if self in ending:
            output.read()
        else:
            original(self, output)


@fault(
    "EXEC-DEBUG-11",
    "the last bytes are always held back, as many as the longest secret has",
    "a window of fixed size",
)
def holds_back_a_window():
    @replaces(redact.Redactor)
    def undecided_from(original, self, data):
        longest = max(map(len, self.values), default=1)
        return min(original(self, data), max(0, len(data) - longest + 1))


@fault("EXEC-DEBUG-11", "an unfinished line is not copied until it ends", "for line in stream")
def shows_whole_lines():
    @replaces(redact.Redactor)
    def undecided_from(original, self, data):
        return min(original(self, data), data.rfind(b"\n") + 1)


@fault(
    "EXEC-DEBUG-03",
    "text that is held back is lost if the stream does not end",
    "on('end') flushes",
)
def held_back_is_lost_without_an_end():
    @replaces(run.Run)
    def close(original, self):
        if self.tee and self.detached:
            for output in self.outputs:
                if output.fd >= 0:
                    self.tee.redactors[output.name].held = b""
        original(self)
