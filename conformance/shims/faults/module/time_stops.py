"""Faults of a module that is stopped, or that ends in an unusual way."""

import _signal

import module.execution as execution
from faults.registry import fault, replaces


@fault("MODULE-TIME-05", "a stopped module is not continued", "killpg(SIGTERM) alone")
def a_stopped_module_is_not_continued():
    @replaces(execution.RawRun)
    def first_signal(original, self, cause):
        self.group.signal(_signal.SIGTERM)


@fault("MODULE-TIME-05", "only the module itself is continued", "kill(pid, SIGCONT)")
def only_the_module_is_continued():
    @replaces(execution.RawRun)
    def first_signal(original, self, cause):
        import os

        self.group.signal(_signal.SIGTERM)
        os.kill(self.group.leader, _signal.SIGCONT)
