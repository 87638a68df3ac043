"""Faults of a second run in the same caller."""

import _signal

import exec.run as run
import exec.terminal as terminal
from faults.registry import fault, replaces


@fault("EXEC-CONC-07", "a second deadline has no grace", "an escalation that is not reset")
def a_second_deadline_has_no_grace():
    times = [0]

    @replaces(run.Run)
    def terminate(original, self, cause):
        times[0] += cause.name == "timeout"
        if cause.name == "timeout" and times[0] > 1:
            self.group.signal(_signal.SIGTERM)
            self.kill()
        else:
            original(self, cause)


class Lost:
    def acquire(self, blocking):
        return False

    def release(self):
        pass


@fault("EXEC-CONC-07", "after a deadline the terminal is not lent again", "a lock that is kept")
def after_a_deadline_the_terminal_is_kept():
    @replaces(run.Run)
    def terminate(original, self, cause):
        original(self, cause)
        terminal.lender = Lost()


@fault(
    "EXEC-CONC-07",
    "of two runs with the same deadline one times out a second late",
    "timers by time",
)
def equal_deadlines_are_one():
    taken = set()

    @replaces(run.Run)
    def begin_deadline(original, self):
        original(self)
        # The key is a time in 50 ms. If it is taken, the next free one is used.
        while self.deadline is not None and self.deadline // 50_000_000 in taken:
            self.deadline += 1_000_000_000
        taken.add(self.deadline and self.deadline // 50_000_000)
