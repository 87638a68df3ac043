"""Faults in sending signals."""

import _signal
import os

import process.bridge as bridge
import process.handle as handle
import process.script as script
from errors import Failed
from faults.registry import fault, replaces


@fault("PROCESS-KILL-01", "terminate sends SIGKILL", "TerminateProcess")
def terminate_is_kill():
    @replaces(handle.Process)
    def signal(original, self, number):
        # Only for a group of one process, and not for bridges (whose pipes do not block): other
        # requirements test these.
        alone = self.fds[0] >= 0 and os.get_blocking(self.fds[0]) and len(self.group.alive()) == 1
        if alone and number == _signal.SIGTERM:
            number = _signal.SIGKILL
        original(self, number)


@fault("PROCESS-KILL-01", "a signal waits until a wait has ended", "one mutex around all")
def a_wait_holds_the_lock():
    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        self.waits = True
        told = original(self, timeout_ms)
        self.waits = False
        return told

    @replaces(handle.Process)
    def signal(original, self, number):
        if not getattr(self, "waits", False):
            original(self, number)


@fault("PROCESS-KILL-02", "a signal reaches only the leader", "os.kill(pid)")
def the_leader_alone():
    @replaces(handle.Process)
    def signal(original, self, number):
        if number == _signal.SIGTERM and not self.reaped:
            os.kill(self.pid, number)
        else:
            original(self, number)


@fault("PROCESS-KILL-03", "a signal after the end is an error", "ESRCH")
def behind_the_end_is_an_error():
    @replaces(handle.Process)
    def signal(original, self, number):
        if self.reaped and self.end == (1, 0):
            raise Failed("execution", os.strerror(3))
        original(self, number)


@fault(
    "PROCESS-KILL-04",
    "after the end a signal goes to the PID, which may belong to another process",
    "kill(pid) after waitpid",
)
def whoever_has_the_number():
    @replaces(handle.Process)
    def signal(original, self, number):
        self.group.signal(number)

    @replaces(handle.Process)
    def close(original, self, grace_ms):
        if self.reaped:
            self.signal(_signal.SIGTERM)
        return original(self, grace_ms)


@fault(
    "PROCESS-KILL-04",
    "the watcher keeps the PID until the bridge ends, although it may be reused",
    "atexit",
)
def the_watcher_knows_the_number():
    @replaces(bridge.Bridge)
    def dismiss(original, self, guard):
        # Skip only the first of two calls: a bridge that ends by an error makes only the second
        # call.
        if self.process.reaped and not hasattr(self, "late"):
            self.late = True
        else:
            original(self, guard)


@fault(
    "PROCESS-KILL-01", "terminate sends SIGKILL after a while", "terminate(), wait(timeout), kill()"
)
def terminate_makes_sure():
    @replaces(script.Step)
    def act_on(original, self, on, process):
        told = original(self, on, process)
        if self.kind == "terminate":
            process.await_group(handle.monotonic_ns() + 1_000_000_000)
            process.signal(_signal.SIGKILL)
        return told


@fault("PROCESS-KILL-02", "after the leader's end the group gets no signals", "if poll() is None")
def nobody_behind_a_leader():
    @replaces(script.Step)
    def act_on(original, self, on, process):
        if self.kind in ("terminate", "kill") and not process.reaped and process.look():
            return {}
        return original(self, on, process)


@fault("PROCESS-KILL-03", "a signal to a closed handle is an error", "ValueError: is closed")
def a_closed_handle_is_an_error():
    @replaces(script.Step)
    def act_on(original, self, on, process):
        if self.kind == "close":
            process.closed = True
        if self.kind in ("terminate", "kill") and hasattr(process, "closed"):
            raise Failed("execution", "the process is closed")
        return original(self, on, process)
