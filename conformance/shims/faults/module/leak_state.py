"""Faults after which the caller itself has another state than before an execution."""

import _signal
import os

import module.execution as execution
import module.folder as folder
from faults.registry import fault, replaces


@fault(
    "MODULE-LEAK-02", "the umask for the directory stays set in the caller", "umask(077); mkdir()"
)
def the_umask_stays_changed():
    @replaces(folder)
    def make(original):
        path = original()
        os.umask(0o077)
        return path


@fault(
    "MODULE-LEAK-02", "the caller stays in the folder of the modules", "chdir() to look up a name"
)
def the_caller_stays_in_the_folder():
    @replaces(execution.Execution)
    def look_up(original, self):
        original(self)
        os.chdir(self.root())


@fault("MODULE-LEAK-02", "after a timeout SIGQUIT stays ignored in the caller", "an early return")
def sigquit_stays_ignored():
    @replaces(execution.Execution)
    def judge(original, self, ended, noted):
        if ended["cause"] == "timeout":
            _signal.signal(_signal.SIGQUIT, _signal.SIG_IGN)
        return original(self, ended, noted)
