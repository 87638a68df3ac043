"""Faults of members that outlive the module in its grace period."""

from time import monotonic_ns

import constants
import exec.run as run
from faults.descendants import signals_go_to_descendants
from faults.registry import fault, replaces


@fault(
    "MODULE-TIME-03",
    "no SIGKILL follows the grace if the module has ended",
    "if (child.exitCode === null) kill()",
)
def an_ended_module_takes_sigkill_along():
    @replaces(run.Run)
    def terminate(original, self, cause):
        self.first_signal(cause)
        if not self.await_end(monotonic_ns() + constants.GRACE_NS) and not self.end:
            self.kill()


@fault("MODULE-TIME-03", "the signal goes to descendants, found by parents", "pgrep -P")
def the_signal_goes_down_the_tree():
    signals_go_to_descendants()


@fault("MODULE-TIME-03", "after a signal the module's end ends the grace", "await child.exit")
def a_signals_grace_ends_with_the_module():
    @replaces(run.Run)
    def terminate(original, self, cause):
        if cause.name != "parent_signal":
            original(self, cause)
            return
        self.first_signal(cause)
        until = monotonic_ns() + constants.GRACE_NS
        while not self.end and monotonic_ns() < until:
            self.await_end(min(until, monotonic_ns() + 20_000_000))
        self.kill()
