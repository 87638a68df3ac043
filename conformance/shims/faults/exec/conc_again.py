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
