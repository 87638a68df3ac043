"""Mistakes in what a result says."""

import os
from time import time_ns

import exec.batch as batch
import exec.run as run
from faults.registry import fault, replaces


@fault("EXEC-RESULT-01", "codes lose their high bit", "pitfall I1: 7 bits")
def codes_lose_their_high_bit():
    @replaces(run.Run)
    def outcome(original, self, cause):
        termination, code, signal = original(self, cause)
        return termination, code & 127 if termination == "exit" else code, signal


@fault("EXEC-RESULT-01", "125 to 127 are taken for errors of the runner", "shells, env(1)")
def high_codes_are_errors():
    @replaces(run.Run)
    def report(original, self, cause):
        if cause.name == "exit" and self.end[1] == 125:
            raise run.Failed("execution", "the program could not be run")
        return original(self, cause)


@fault("EXEC-RESULT-02", "a death by signal is code 128 + n", "shells")
def death_is_a_code():
    @replaces(run.Run)
    def outcome(original, self, cause):
        termination, code, signal = original(self, cause)
        return termination, 128 + signal if termination == "signal" else code, signal


@fault("EXEC-RESULT-02", "a death by the child's own signal is annotated", "sh: Killed")
def annotates_a_death():
    @replaces(run.Run)
    def note(original, self, cause):
        died = cause.name == "exit" and self.end[0] != os.CLD_EXITED
        return "terminated by a signal" if died else original(self, cause)


@fault("EXEC-RESULT-03", "143 and 130 are taken for an interruption", "shells")
def a_code_is_an_interruption():
    @replaces(run.Run)
    def note(original, self, cause):
        alike = cause.name == "exit" and self.end in ((os.CLD_EXITED, 143), (os.CLD_EXITED, 130))
        return run.INTERRUPTED.format("SIGTERM") if alike else original(self, cause)


@fault("EXEC-RESULT-04", "output holds what stdout parses to", "pitfall I17")
def fills_output():
    @replaces(run.Run)
    def report(original, self, cause):
        answer = original(self, cause)
        if isinstance(answer["stdout"], str) and answer["stdout"].startswith('{"output'):
            answer["output"] = answer["stdout"]
        return answer


@fault("EXEC-RESULT-05", "the duration counts whole seconds", "pitfall I17: time(2)")
def duration_in_seconds():
    @replaces(run.Run)
    def duration_ms(original, self):
        return original(self) // 1000 * 1000


@fault("EXEC-RESULT-05", "with a deadline the duration counts from the boot", "a start never set")
def duration_has_no_start():
    @replaces(run.Run)
    def duration_ms(original, self):
        # Without one it is what other requirements measure with.
        return original(self) + (self.clock // 1_000_000 if self.deadline else 0)


@fault(
    "EXEC-RESULT-06", "deadline and duration by the wall clock", "pitfall G12: openssh@b759c9c2e"
)
def wall_clock():
    run.monotonic_ns = batch.monotonic_ns = time_ns


@fault("EXEC-RESULT-07", "termination is always exit", "a field added later")
def termination_is_always_exit():
    @replaces(run.Run)
    def report(original, self, cause):
        return original(self, cause) | {"termination": "exit"}


@fault("EXEC-RESULT-07", "signals have numbers, not names", "WTERMSIG printed")
def signals_without_names():
    @replaces(run.Run)
    def report(original, self, cause):
        answer = original(self, cause)
        if answer["signal"]:
            answer["signal"] = f"SIG{cause.signal or self.end[1]}"
        return answer
