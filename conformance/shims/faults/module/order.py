"""Faults in the order of the checks."""

import module.execution as execution
from faults.registry import fault, replaces


@fault(
    "MODULE-ORDER-01",
    "a value that was written before the timeout is returned",
    "try the output first",
)
def a_late_value_counts():
    @replaces(execution.Execution)
    def judge(original, self, ended, noted):
        if ended["cause"] == "timeout" and ended["stdout"].strip():
            return self.judge_output(ended["stdout"])
        return original(self, ended, noted)


@fault(
    "MODULE-ORDER-02", "a failed exit is reported although the output was too large", "status first"
)
def the_exit_before_the_size():
    @replaces(execution.Execution)
    def judge_size(original, self, ended):
        if ended["over"] == ["stdout"] and ended["end"] and ended["stdout"][:1] == b"\0":
            raise execution.Failure("NonZeroExit", exit_code=-1, stderr="")
        original(self, ended)


@fault(
    "MODULE-ORDER-03",
    "unreadable output is reported although the module failed",
    "parse, then look",
)
def the_output_before_the_exit():
    @replaces(execution.Execution)
    def judge_end(original, self, ended):
        # Only for the outputs of the cases that test this.
        if ended["stdout"] in (b"1\n", b"no\n"):
            self.judge_output(ended["stdout"])
            if ended["stdout"] == b"1\n" and ended["end"][1] == 3:
                return
        original(self, ended)


@fault(
    "MODULE-ORDER-01",
    "too much output in the grace of a timeout names the error",
    "the size is checked first",
)
def the_size_before_the_timeout():
    @replaces(execution.Execution)
    def judge(original, self, ended, noted):
        if ended["cause"] == "timeout":
            self.judge_size(ended)
        return original(self, ended, noted)
