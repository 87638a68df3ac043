"""Faults in the fields of a result."""

import _signal
import os
from time import monotonic_ns, time_ns

import exec.batch as batch
import exec.run as run
import exec.spawn as spawn
import exec.terminal as terminal
from exec.run import Cause
from faults.registry import fault, replaces


@fault("EXEC-RESULT-01", "exit codes lose their highest bit", "pitfall I1: 7 bits")
def codes_lose_their_high_bit():
    @replaces(run.Run)
    def outcome(original, self, cause):
        termination, code, signal = original(self, cause)
        return termination, code & 127 if termination == "exit" else code, signal


@fault(
    "EXEC-RESULT-01", "exit codes 125 to 127 are taken for errors of the runner", "shells, env(1)"
)
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


@fault("EXEC-RESULT-03", "exit codes 143 and 130 are taken for an interruption", "shells")
def a_code_is_an_interruption():
    @replaces(run.Run)
    def note(original, self, cause):
        alike = cause.name == "exit" and self.end in ((os.CLD_EXITED, 143), (os.CLD_EXITED, 130))
        return run.INTERRUPTED.format("SIGTERM") if alike else original(self, cause)


@fault("EXEC-RESULT-04", "output is set to the parsed stdout", "pitfall I17")
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


@fault(
    "EXEC-RESULT-05",
    "with a deadline the duration counts from the system's boot",
    "a start never set",
)
def duration_has_no_start():
    @replaces(run.Run)
    def duration_ms(original, self):
        # Only with a deadline, because other requirements measure the duration without one.
        return original(self) + (self.clock // 1_000_000 if self.deadline else 0)


@fault(
    "EXEC-RESULT-06", "deadline and duration use the wall clock", "pitfall G12: openssh@b759c9c2e"
)
def wall_clock():
    run.monotonic_ns = batch.monotonic_ns = spawn.monotonic_ns = time_ns


@fault("EXEC-RESULT-07", "termination is always exit", "a field added later")
def termination_is_always_exit():
    @replaces(run.Run)
    def report(original, self, cause):
        return original(self, cause) | {"termination": "exit"}


@fault("EXEC-RESULT-07", "signals are reported as numbers, not names", "WTERMSIG printed")
def signals_without_names():
    @replaces(run.Run)
    def report(original, self, cause):
        answer = original(self, cause)
        if answer["signal"]:
            answer["signal"] = f"SIG{cause.signal or self.end[1]}"
        return answer


@fault(
    "EXEC-RESULT-08",
    "a child that has ended is reported as timed out if the deadline has passed",
    "if (now >= deadline) first",
)
def deadline_before_exit():
    @replaces(run.Run)
    def look(original, self):
        past = self.deadline is not None and monotonic_ns() >= self.deadline
        cause = original(self)
        # Only for children that still run at the first check: other requirements test the other
        # children.
        late = past and self.request.timeout_ms > 500
        return Cause("timeout") if late and cause and cause.name == "exit" else cause


@fault(
    "EXEC-RESULT-08",
    "a child that ends just after a signal to the caller is reported as an exit",
    "waitpid first",
)
def exit_before_signal():
    @replaces(run.Run)
    def look(original, self):
        noted, cause = list(self.watch.noted), original(self)
        if cause and cause.name == "parent_signal" and self.end:
            self.watch.noted[:0] = [n for n in [cause.signal] if n not in noted] or noted[:1]
            return Cause("exit")
        return cause


@fault("EXEC-RESULT-09", "a stopped child is reported as ended", "waitid(… | WSTOPPED)")
def stopped_is_exited():
    @replaces(run.Run)
    def look(original, self):
        cause = original(self)
        # Except for runs with a deadline or a signal, which other requirements test.
        if cause or self.deadline:
            return cause
        try:
            how = os.WSTOPPED | os.WNOHANG | os.WNOWAIT
            stopped = os.waitid(os.P_PID, self.group.leader, how)
        except ChildProcessError:
            return cause
        if not stopped or not self.is_long_stopped():
            return cause
        self.end = (os.CLD_EXITED, stopped.si_status)
        return Cause("exit")

    def is_long_stopped(self):
        since = self.__dict__.setdefault("stopped_since", monotonic_ns())
        return monotonic_ns() - since > 150_000_000

    run.Run.is_long_stopped = is_long_stopped  # type: ignore[attr-defined]

    @replaces(run.Run)
    def patience_ms(original, self, until):
        patience = original(self, until)
        return 100 if patience is None else min(100, patience)


@fault("EXEC-RESULT-05", "the duration is the milliseconds of its last second", "subsec_millis()")
def duration_without_its_seconds():
    @replaces(run.Run)
    def duration_ms(original, self):
        return original(self) % 1000


@fault("EXEC-RESULT-05", "the duration counts from the start of the batch", "one clock for all")
def duration_of_the_batch():
    starts: list[int] = []

    @replaces(batch.Batch)
    def begin(original, self, i):
        starts[:] = starts or [monotonic_ns()]
        original(self, i)

    @replaces(run.Run)
    def duration_ms(original, self):
        return (monotonic_ns() - starts[0]) // 1_000_000


@fault("EXEC-RESULT-03", "a signal after the exit replaces the result", "the flag is checked last")
def signal_takes_the_place_of_an_exit():
    @replaces(run.Run)
    def final(original, self, cause):
        cause = original(self, cause)
        if cause.name == "exit" and self.watch.noted:
            return run.Cause("parent_signal", self.watch.noted.pop(0))
        return cause


@fault(
    "EXEC-RESULT-02",
    "a death by a signal without a name is exit code 0",
    "Node 20: close says 0, null",
)
def nameless_signal_is_exit_0():
    @replaces(run.Run)
    def outcome(original, self, cause):
        told = original(self, cause)
        nameless = told[0] == "signal" and told[2] >= _signal.SIGRTMIN
        return ("exit", 0, None) if nameless else told


@fault("EXEC-RESULT-10", "the duration ends with the child", "elapsed() after waitpid()")
def duration_without_the_drains():
    @replaces(run.Run)
    def drain(original, self):
        self.took = run.Run.duration_ms(self)
        self.duration_ms = lambda: self.took
        original(self)


@fault("EXEC-RESULT-05", "the duration ends where the grace begins", "elapsed() at the timeout")
def duration_without_the_grace():
    @replaces(run.Run)
    def terminate(original, self, cause):
        self.took = run.Run.duration_ms(self)
        self.duration_ms = lambda: self.took
        original(self, cause)


@fault(
    "EXEC-RESULT-07",
    "a cap is reported as the SIGKILL that ended the child",
    "status wins over cause",
)
def cap_is_told_as_a_death():
    @replaces(run.Run)
    def outcome(original, self, cause):
        if cause.name == "cap":
            return "signal", None, _signal.SIGKILL
        return original(self, cause)


@fault(
    "EXEC-RESULT-07",
    "after escalation SIGKILL is reported instead of the caller's signal",
    "WTERMSIG for each end",
)
def sigkill_is_told_for_the_callers_signal():
    @replaces(run.Run)
    def outcome(original, self, cause):
        termination, exit_code, signal = original(self, cause)
        if termination == "parent_signal" and self.end and self.end[0] == os.CLD_KILLED:
            signal = self.end[1]
        return termination, exit_code, signal


@fault("EXEC-RESULT-10", "the duration ends at the cap", "elapsed() where the cause is found")
def the_duration_ends_at_the_cap():
    @replaces(run.Run)
    def end_group(original, self, cause):
        self.until_cap = self.duration_ms() if cause.name == "cap" else None
        original(self, cause)

    @replaces(run.Run)
    def duration_ms(original, self):
        until_cap = getattr(self, "until_cap", None)
        return original(self) if until_cap is None else until_cap


@fault("EXEC-RESULT-07", "a stop by the terminal has no signal", "a field that is not set")
def a_stop_has_no_signal():
    @replaces(run.Run)
    def outcome(original, self, cause):
        return ("signal", None, None) if cause.name == "stop" else original(self, cause)


@fault(
    "EXEC-RESULT-07",
    "a stop by the terminal is reported as the SIGTERM that ends the child",
    "WTERMSIG at the end",
)
def a_stop_is_the_signal_that_ends_it():
    @replaces(run.Run)
    def outcome(original, self, cause):
        return ("signal", None, _signal.SIGTERM) if cause.name == "stop" else original(self, cause)


@fault("EXEC-RESULT-07", "a stop by SIGTTOU is reported as SIGTTIN", "one word for both")
def each_stop_is_sigttin():
    @replaces(terminal.Terminal)
    def check_stop(original, self, group):
        return _signal.SIGTTIN if original(self, group) else None


def fails_if(applies):
    @replaces(run.Run)
    def report(original, self, cause):
        made = original(self, cause)
        return made | {"success": made["success"] and not applies(self)}


@fault("EXEC-RESULT-01", "a run that killed a writer has no success", "a lost output is an error")
def a_killed_writer_is_no_success():
    fails_if(lambda each: each.killed_writers)


@fault("EXEC-RESULT-01", "a run with a pending signal has no success", "any signal is a failure")
def a_pending_signal_is_no_success():
    @replaces(batch.Batch)
    def finish(original, self, i, watch, answer):
        original(self, i, watch, answer)
        if isinstance(answer, dict) and answer["pending_signals"]:
            answer["success"] = False


@fault("EXEC-RESULT-01", "output without an end has no success", "err = cmd.Wait(), WaitDelay")
def a_detached_writer_is_no_success():
    fails_if(lambda each: each.detached)
