"""Faults of waiting."""

import os

import process.handle as handle
import process.script as script
from errors import Failed
from faults.registry import fault, replaces


@fault("PROCESS-WAIT-01", "a signal is reported as 128 plus its number", "shell habits")
def signals_are_codes():
    @replaces(handle.Process)
    def ended(original, self):
        told = original(self)
        if told.get("signaled") == "SIGTERM" and self.fds[0] < 0:
            return {"exited": 143}
        return told


@fault("PROCESS-WAIT-01", "a real-time signal has no name", "unix.SignalName of 34 and above")
def a_real_time_signal_has_no_name():
    @replaces(handle.signals)
    def name_of(original, number):
        return original(number) if number < 32 else ""


@fault(
    "PROCESS-WAIT-01", "the flag of a core dump is counted into the signal number", "status & 0xff"
)
def a_dumped_core_counts():
    @replaces(handle.Process)
    def ended(original, self):
        if self.end and self.end[0] == os.CLD_DUMPED:
            return {"signaled": f"SIG{128 + self.end[1]}"}
        return original(self)


@fault("PROCESS-WAIT-01", "every code other than 0 becomes 1", "bool(status)")
def codes_are_flags():
    @replaces(handle.Process)
    def ended(original, self):
        return {"exited": 1} if original(self) == {"exited": 255} else original(self)


@fault("PROCESS-WAIT-02", "a second wait is an error", "ECHILD")
def a_second_wait_fails():
    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        if self.reaped and timeout_ms is None:
            raise Failed("execution", f"wait error: {os.strerror(10)}")
        return original(self, timeout_ms)


@fault("PROCESS-WAIT-03", "a wait that times out kills the process", "subprocess.run(timeout=…)")
def late_is_killed():
    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        told = original(self, timeout_ms)
        if told == {"running": True} and timeout_ms is not None and timeout_ms in (0, 50):
            self.signal(9)
        return told


@fault("PROCESS-WAIT-04", "a wait does not close stdin", "wait() is no communicate()")
def stdin_stays_open():
    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        return original(self, 30_000 if timeout_ms is None else timeout_ms)


@fault("PROCESS-WAIT-04", "a wait with a limit closes stdin too", "std::process::Child::wait")
def every_wait_closes_stdin():
    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        if timeout_ms == 30:
            self.close_stream(0)
        return original(self, timeout_ms)


@fault("PROCESS-WAIT-02", "only one of two waits returns the end", "two threads in waitpid()")
def one_of_two_gets_the_end():
    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        if timeout_ms is None and self.waits > 0:
            raise Failed("execution", f"wait error: {os.strerror(10)}")
        return original(self, timeout_ms)


@fault(
    "PROCESS-WAIT-05",
    "a child that was reaped elsewhere gets an invented exit code",
    "ECHILD means 255",
)
def makes_up_a_code():
    @replaces(handle.Process)
    def look(original, self):
        try:
            return original(self)
        except Failed:
            self.end = (os.CLD_EXITED, 255)
            return True


@fault(
    "PROCESS-WAIT-05",
    "a close does not report a child that was reaped elsewhere",
    "close() returns nothing",
)
def a_close_says_nothing():
    @replaces(handle.Process)
    def close(original, self, grace_ms):
        try:
            return original(self, grace_ms)
        except Failed:
            return {"exited": 0, "detached_writers": False}


@fault("PROCESS-WAIT-01", "an exit code above 128 is reported as a signal", "shell habits")
def codes_above_128_are_signals():
    @replaces(handle.Process)
    def ended(original, self):
        told = original(self)
        return {"signaled": "SIGKILL"} if told == {"exited": 137} else told


@fault("PROCESS-WAIT-03", "a very long limit ends at once", "(int) of milliseconds")
def a_long_limit_has_passed():
    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        return original(self, 0 if timeout_ms is not None and timeout_ms >= 2**31 else timeout_ms)


@fault("PROCESS-WAIT-04", "a stdin that was taken is closed too", "communicate() before wait()")
def a_taken_stdin_is_closed():
    @replaces(script.Step)
    def act_on(original, self, handle, process):
        if self.kind == "wait" and self.ms is None and handle.taken[0] >= 0:
            os.close(handle.taken[0])
            handle.taken[0] = -1
        return original(self, handle, process)
