"""Mistakes while waiting for the child."""

import _signal
import os
from time import monotonic_ns

import exec.group as group
import exec.run as run
import exec.signals as signals
from faults.registry import fault, replaces


def looks_for_the_exit(delay_ms):
    """Sees the leader's end only now and then: delay_ms(n) passes after the nth look."""

    @replaces(run.Run)
    def await_cause(original, self):
        end, pidfd = self.group.leader_end, self.group.pidfd
        due = looks = 0

        def leader_end():
            nonlocal due, looks
            if monotonic_ns() < due:
                return None
            looks += 1
            due = monotonic_ns() + delay_ms(looks) * 1_000_000
            return end()

        self.group.leader_end, self.group.pidfd = leader_end, -1
        try:
            while not (cause := self.look()):
                self.turn(due if self.deadline is None else min(due, self.deadline))
        finally:
            self.group.leader_end, self.group.pidfd = end, pidfd
        return cause


@fault("EXEC-WAIT-01", "WNOHANG with a delay that grows to a second", "cpython _wait")
def backs_off():
    looks_for_the_exit(lambda looks: min(30**looks, 1000))


@fault("EXEC-WAIT-02", "WNOHANG every 100 ms", "pitfall G21: the origin of the contract")
def looks_every_tick():
    looks_for_the_exit(lambda looks: 100)


@fault("EXEC-WAIT-03", "a look every 5 ms", "pitfall G20")
def looks_two_hundred_times_a_second():
    @replaces(run.Run)
    def patience_ms(original, self, until):
        patience = original(self, until)
        return 5 if patience is None else min(patience, 5)


@fault("EXEC-WAIT-04", "a lost child has a made-up code", "ECHILD means 255")
def makes_up_a_code():
    @replaces(group.Group)
    def leader_end(original, self):
        try:
            return original(self)
        except ChildProcessError:
            return (os.CLD_EXITED, 255)


@fault("EXEC-WAIT-05", "ignored SIGCHLD is noticed when the child is gone", "pitfall D5: sudo#98")
def ignored_sigchld_is_noticed_late():
    signals.child_ends_are_lost = lambda alone: False


@fault("EXEC-WAIT-06", "the exit is learned from SIGCHLD", "pitfall D7: coreutils@cccd01b4d")
def waits_for_sigchld():
    @replaces(run.Run)
    def await_cause(original, self):
        if _signal.SIGCHLD in self.caller_mask:
            end, begun = self.group.leader_end, monotonic_ns()
            self.group.pidfd = -1
            self.group.leader_end = lambda: monotonic_ns() - begun > 600_000_000 and end()
        return original(self)
