"""Faults in opening a handle."""

import os
from time import sleep

import process.handle as handle
import process.script as script
from errors import Failed
from faults.registry import fault, replaces


@fault("PROCESS-OPEN-01", "lines lose their ends and the text after a NUL", "text mode")
def lines_are_stripped():
    @replaces(script.Step)
    def read_until(original, self, fd):
        told = original(self, fd)
        return {**told, "data_b64": script.base64(b"")} if self.data == b"\n" else told


@fault("PROCESS-OPEN-02", "an unknown mode means null", "a default branch")
def unknown_modes_are_null():
    @replaces(handle)
    def check(original, request, modes):
        original(request, [mode if mode in (0, 1) else 2 for mode in modes])


@fault(
    "PROCESS-OPEN-02",
    "the mode is checked only after the child has started",
    "checked in the binding",
)
def checks_behind_the_spawn():
    @replaces(handle)
    def check(original, request, modes):
        try:
            original(request, modes)
        except Failed:
            if all(mode in (0, 1, 2) for mode in modes):
                raise
            good = [mode if mode in (0, 1, 2) else 1 for mode in modes]
            handle.Process(request, good, False).wait(None)
            raise


@fault("PROCESS-OPEN-03", "a failed exec is reported as exit code 127", "fork and exec by hand")
def a_failed_exec_is_an_exit():
    @replaces(handle.ConnectedSpawn)
    def start(original, self):
        try:
            return original(self)
        except Failed:
            self.request.program, self.request.args = b"/bin/sh", [b"-c", b"exit 127"]
            self.next = 1
            return original(self)


@fault("PROCESS-OPEN-04", "a null stream is a pipe whose other end is closed", "one code path")
def null_is_a_pipe():
    @replaces(handle.ConnectedSpawn)
    def inherit_or_null(original, self, target, flags):
        if target == 0 and self.modes[target] == handle.NULL:
            read, write = os.pipe()
            self.theirs += [read, write]
            return -1, read
        return original(self, target, flags)


@fault("PROCESS-OPEN-04", "an inherited stream is opened as null", "two modes are enough")
def inherit_is_null():
    @replaces(handle.ConnectedSpawn)
    def inherit_or_null(original, self, target, flags):
        self.modes[target] = handle.NULL
        return original(self, target, flags)


@fault(
    "PROCESS-OPEN-05", "children inherit the pipes of other children", "pitfall C2: no O_CLOEXEC"
)
def pipes_are_inherited():
    @replaces(handle.ConnectedSpawn)
    def open_stdin(original, self):
        ends = original(self)
        for fd in ends:
            if fd > 2:
                LATER.append(fd)
        return ends

    @replaces(handle.Process, "__init__")
    def init(original, self, *given, **named):
        for fd in LATER:
            try:
                os.set_inheritable(fd, True)
            except OSError:
                pass
        original(self, *given, **named)


LATER: list[int] = []


@fault("PROCESS-OPEN-06", "fields that only exec supports are ignored", "one struct for both")
def fields_are_ignored():
    @replaces(handle)
    def check(original, request, modes):
        request.timeout_ms = request.max_output_bytes = None
        request.stdin, request.debug = "inherit", False
        original(request, modes)


@fault("PROCESS-OPEN-07", "nonblocking is accepted and ignored", "an option that is not read")
def nonblocking_is_forgotten():
    @replaces(handle.Process, "__init__")
    def init(original, self, request, modes, nonblocking, announce=-1):
        # A bridge, which passes `announce`, stays non-blocking.
        original(self, request, modes, nonblocking and announce >= 0, announce)


@fault(
    "PROCESS-OPEN-01",
    "writing and reading block while another thread waits",
    "one lock for the handle",
)
def talk_waits_for_a_wait():
    @replaces(script.Step)
    def read_until(original, self, fd):
        while self.handle.process is not None and self.handle.process.waits:
            sleep(0.005)
        return original(self, fd)


@fault("PROCESS-OPEN-02", "the number of a mode is cut to a byte", "as u8")
def a_mode_is_a_byte():
    @replaces(script.Handle)
    def open(original, self):
        self.modes = [mode % 256 for mode in self.modes]
        return original(self)


@fault(
    "PROCESS-OPEN-04",
    "a null output goes to the caller's output",
    "stdout=None where DEVNULL is meant",
)
def a_null_output_is_inherited():
    @replaces(handle.ConnectedSpawn)
    def inherit_or_null(original, self, target, flags):
        if target and self.modes[target] == handle.NULL:
            self.modes[target] = 0
        return original(self, target, flags)


@fault("PROCESS-OPEN-04", "a null stream can only be read", "File::open('/dev/null')")
def null_is_read_alone():
    @replaces(handle.ConnectedSpawn)
    def inherit_or_null(original, self, target, flags):
        return original(self, target, os.O_RDONLY)


@fault("PROCESS-OPEN-08", "every failed search is reported as a missing file", "execvp clones")
def always_enoent():
    @replaces(handle.ConnectedSpawn)
    def start(original, self):
        try:
            return original(self)
        except Failed as why:
            words = str(why).replace("Permission denied", "No such file or directory")
            raise Failed("execution", words) from None


@fault("PROCESS-OPEN-05", "a taken descriptor is inherited", "dup() loses FD_CLOEXEC")
def what_was_taken_is_inherited():
    @replaces(handle.Process)
    def take(original, self, stream):
        fd = original(self, stream)
        if fd >= 0:
            os.set_inheritable(fd, True)
        return fd


@fault("PROCESS-OPEN-05", "non-blocking ends are inherited", "pipe2(fds, O_NONBLOCK)")
def nonblocking_ends_are_inherited():
    @replaces(handle.Process, "__init__")
    def init(original, self, request, modes, nonblocking, announce=-1):
        original(self, request, modes, nonblocking, announce)
        for fd in self.fds if nonblocking else ():
            if fd >= 0:
                os.set_inheritable(fd, True)


@fault("PROCESS-OPEN-07", "nonblocking makes only stdin non-blocking", "one of three descriptors")
def reads_block():
    @replaces(handle.Process, "__init__")
    def init(original, self, request, modes, nonblocking, announce=-1):
        original(self, request, modes, nonblocking, announce)
        for fd in self.fds[1:] if announce < 0 else ():
            if fd >= 0:
                os.set_blocking(fd, True)


@fault("PROCESS-OPEN-07", "a non-blocking read without data reports the end", "read() <= 0")
def nothing_to_read_is_the_end():
    @replaces(script)
    def read(original, fd, most):
        return original(fd, most) or b""


@fault("PROCESS-OPEN-06", "a field with the value 0 is not refused", "if (request.timeout_ms)")
def a_field_of_0_is_none():
    @replaces(handle)
    def check(original, request, modes):
        request.timeout_ms = request.timeout_ms or None
        request.max_output_bytes = request.max_output_bytes or None
        original(request, modes)


@fault(
    "PROCESS-OPEN-03",
    "after a failed open the handle reports exit code 127",
    "fork and exec by hand",
)
def an_end_behind_a_failed_open():
    @replaces(script.Step)
    def act(original, self):
        try:
            return original(self)
        except Failed:
            if self.kind == "wait" and hasattr(self.handle, "failed"):
                return {"exited": 127}
            if self.kind == "open":
                self.handle.failed = True
            raise
