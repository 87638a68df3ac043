"""Faults of a wait that follows another one."""

import _signal
from time import monotonic_ns, sleep

import process.handle as handle
from faults.registry import fault, replaces


@fault("PROCESS-WAIT-04", "after a wait with a limit, stdin stays open", "decided only once")
def stdin_stays_open_after_a_limit():
    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        if timeout_ms is None and getattr(self, "waited", False):
            self.await_end(None)
            return self.ended()
        self.waited = bool(timeout_ms)
        return original(self, timeout_ms)


@fault("PROCESS-WAIT-07", "a wait looks for the end every 5 ms", "waitpid(WNOHANG), then sleep")
def a_wait_looks_every_5_ms():
    @replaces(handle.Process)
    def poll_end(original, self, until):
        while not self.settled():
            if until is not None and monotonic_ns() >= until:
                return
            sleep(0.005)


@fault("PROCESS-WAIT-07", "in the grace the group is looked at every 5 ms", "kill(-pid, 0)")
def a_grace_looks_every_5_ms():
    @replaces(handle.Process)
    def await_group(original, self, until):
        while not self.reaped and self.group.alive() and monotonic_ns() < until:
            sleep(0.005)


class Continued(Exception):
    pass


def continued_callers_return_from(name):
    """Let a call return early if the caller is continued while it waits."""
    waiting: list[int] = []

    def handler(number, frame):
        if waiting:
            raise Continued

    _signal.signal(_signal.SIGCONT, handler)
    original = getattr(handle.Process, name)

    def replacement(self, until):
        waiting.append(1)
        try:
            original(self, until)
        except Continued:
            pass
        finally:
            waiting.pop()

    setattr(handle.Process, name, replacement)


@fault("PROCESS-WAIT-08", "a wait returns if its caller is continued", "EINTR is no event")
def a_continued_caller_ends_the_wait():
    continued_callers_return_from("poll_end")


@fault("PROCESS-WAIT-08", "a continued caller ends the grace period", "EINTR counts as the limit")
def a_continued_caller_ends_the_grace():
    continued_callers_return_from("await_group")


@fault("PROCESS-WAIT-01", "a poll reports what the poll before has found", "poll(), then a flag")
def a_poll_is_one_behind():
    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        found_before = self.reaped
        told = original(self, timeout_ms)
        return told if timeout_ms != 0 or found_before else {"running": True}
