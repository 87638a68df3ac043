"""Faults of a module that ends by itself after a signal to the caller."""

import os

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
