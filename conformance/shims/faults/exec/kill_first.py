"""Faults of the first signal to a group."""

import _signal
from time import monotonic_ns

import constants
import exec.run as run
from faults.descendants import signals_go_to_descendants
from faults.registry import fault, replaces


@fault("EXEC-KILL-01", "the first signal goes to descendants, found by parents", "pgrep -P")
def the_signal_goes_down_the_tree():
    signals_go_to_descendants()


@fault("EXEC-KILL-07", "SIGCONT is sent before the first signal", "a stopped child is woken first")
def sigcont_comes_first():
    @replaces(run.Run)
    def first_signal(original, self, cause):
        self.group.signal(_signal.SIGCONT)
        original(self, cause)


@fault("EXEC-KILL-02", "a timeout of 0 has no grace", "if timeout == 0: kill()")
def a_timeout_of_0_has_no_grace():
    @replaces(run.Run)
    def terminate(original, self, cause):
        if cause.name == "timeout" and self.request.timeout_ms == 0:
            self.kill()
        else:
            original(self, cause)


@fault(
    "EXEC-KILL-03",
    "the grace period ends with the members that existed at the first signal",
    "pids = pgrep -g; wait(pids)",
)
def the_grace_is_for_known_members():
    @replaces(run.Run)
    def terminate(original, self, cause):
        known = set(self.group.alive())
        self.first_signal(cause)
        until = monotonic_ns() + constants.GRACE_NS
        while not self.await_end(min(until, monotonic_ns() + constants.TICK_NS)):
            if monotonic_ns() >= until or known.isdisjoint(self.group.alive()):
                self.kill()
                return
