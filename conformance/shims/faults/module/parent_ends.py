"""Faults of a module that ends by itself after a signal to the caller."""

import _signal
import os
from time import monotonic_ns

import exec.run as run
import module.execution as execution
from faults.registry import fault, replaces


@fault("MODULE-PARENT-01", "a value that follows the signal is the answer", "if (code === 0)")
def a_value_after_the_signal_counts():
    @replaces(execution.Execution)
    def judge(original, self, ended, noted):
        well = ended["end"] == (os.CLD_EXITED, 0) and ended["stdout"]
        return original(self, ended, [] if well else noted)


@fault("MODULE-PARENT-01", "an exit code after the signal is reported", "if (code) throw")
def a_code_after_the_signal_is_reported():
    @replaces(execution.Execution)
    def judge(original, self, ended, noted):
        code, status = ended["end"] or (0, 0)
        return original(self, ended, [] if code == os.CLD_EXITED and status else noted)


@fault("MODULE-PARENT-06", "SIGTERM is sent on in place of SIGINT", "child.kill() for each signal")
def sigterm_in_place_of_sigint():
    @replaces(run.Run)
    def first_signal(original, self, cause):
        original(self, run.Cause(cause.name, _signal.SIGTERM))


@fault(
    "MODULE-PARENT-06", "after a signal to the caller the grace is a second", "a second code path"
)
def a_short_grace_after_a_signal():
    @replaces(run.Run)
    def terminate(original, self, cause):
        if cause.name != "parent_signal":
            original(self, cause)
            return
        self.first_signal(cause)
        self.await_end(monotonic_ns() + 1_000_000_000)
        self.kill()
