"""Faults in which events during the grace period move its end."""

from time import monotonic_ns

import constants
import exec.group as group
import exec.run as run
from faults.registry import fault, replaces


@fault("EXEC-KILL-02", "output in the grace period restarts it", "a timeout for each poll()")
def output_restarts_the_grace():
    @replaces(run.Run)
    def terminate(original, self, cause):
        self.first_signal(cause)
        until = monotonic_ns() + constants.GRACE_NS
        length = sum(output.length for output in self.outputs)
        while not self.ended(True):
            if monotonic_ns() >= until:
                self.kill()
                return
            self.turn(min(until, self.ending.next_look))
            now = sum(output.length for output in self.outputs)
            if now > length:
                length, until = now, monotonic_ns() + constants.GRACE_NS


@fault("EXEC-KILL-02", "the end of a member restarts the grace period", "a timeout for each wait()")
def the_end_of_a_member_restarts_the_grace():
    @replaces(run.Run)
    def terminate(original, self, cause):
        self.first_signal(cause)
        until = monotonic_ns() + constants.GRACE_NS
        members = None
        while not self.ended(True):
            if monotonic_ns() >= until:
                self.kill()
                return
            self.turn(min(until, self.ending.next_look))
            now = len(self.ending.members) + (self.end is None)
            if members is not None and now < members:
                until = monotonic_ns() + constants.GRACE_NS
            members = now


@fault("EXEC-KILL-02", "a signal in the grace period ends the run at once", "Ctrl-C again: force")
def a_signal_in_the_grace_kills():
    @replaces(run.Run)
    def ended(original, self, fired):
        if self.watch.noted and not self.given_up:
            self.group.kill()
        return original(self, fired)


@fault("EXEC-KILL-02", "the grace period lasts 5,500 ms", "a kill -9 at the next round of a loop")
def a_longer_grace():
    @replaces(run.Run)
    def terminate(original, self, cause):
        constants.GRACE_NS = 5_500_000_000
        original(self, cause)


@fault("EXEC-KILL-02", "the grace period is one wait of 5,300 ms", "a constant of its own")
def a_longer_grace_in_one_wait():
    @replaces(run.Run)
    def terminate(original, self, cause):
        constants.GRACE_NS = 5_300_000_000
        original(self, cause)

    @replaces(group.Ending)
    def left(original, self, fired):
        members = original(self, fired)
        if self.fd >= 0:
            self.next_look += 10_000_000_000
        return members
