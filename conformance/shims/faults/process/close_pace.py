"""Faults of the grace period of a close."""

import _signal
from time import monotonic_ns, sleep

import process.handle as handle
from faults.process.parts import notes_a_close
from faults.registry import fault, replaces


@fault("PROCESS-CLOSE-01", "a grace is rounded down to whole seconds", "sleep(grace / 1000)")
def a_grace_is_rounded_to_seconds():
    @replaces(handle.Process)
    def close(original, self, grace_ms):
        return original(self, grace_ms // 1000 * 1000 if grace_ms > 1000 else grace_ms)


@fault("PROCESS-CLOSE-01", "the end of a member restarts the grace", "wait(timeout) for each")
def the_end_of_a_member_restarts_the_grace():
    @replaces(handle.Process)
    def close(original, self, grace_ms):
        self.grace_ns = grace_ms * 1_000_000
        return original(self, grace_ms)

    @replaces(handle.Process)
    def await_group(original, self, until):
        count = 0
        while not self.reaped and (alive := self.group.alive()) and monotonic_ns() < until:
            if len(alive) < count:
                until = monotonic_ns() + self.grace_ns
            count = len(alive)
            sleep(0.005)


@fault(
    "PROCESS-CLOSE-06", "a process whose main thread has ended counts as ended", "state Z in /proc"
)
def a_process_without_its_main_thread_is_over():
    import exec.group as group

    @replaces(group.Member)
    def alive(original, self):
        return self.state not in b"ZXx"


@fault("PROCESS-CLOSE-07", "the output is closed before the grace", "close the pipes, then wait")
def the_output_is_closed_before_the_grace():
    @replaces(handle.Process)
    def await_group(original, self, until):
        for stream in (1, 2):
            self.close_stream(stream)
        original(self, until)


@fault("PROCESS-CLOSE-01", "a close after a terminate sends no SIGTERM", "if (!term_sent)")
def a_close_after_a_terminate_sends_nothing():
    notes_a_close()

    @replaces(handle.Process)
    def signal(original, self, number):
        if number == _signal.SIGTERM:
            if getattr(self, "closes", False) and getattr(self, "told", False):
                return
            self.told = True
        original(self, number)


@fault(
    "PROCESS-CLOSE-01", "a second close restarts the grace of the first", "a deadline per handle"
)
def a_second_close_restarts_the_grace():
    @replaces(handle.Process)
    def await_group(original, self, until):
        self.due = until
        while not self.reaped and self.group.alive() and monotonic_ns() < self.due:
            original(self, min(self.due, monotonic_ns() + 50_000_000))


@fault("PROCESS-CLOSE-01", "whole days of a grace period are dropped", "timedelta.seconds")
def whole_days_are_dropped():
    @replaces(handle.Process)
    def close(original, self, grace_ms):
        return original(self, grace_ms % 86_400_000)
