"""Faults about signals to the caller."""

import _signal
import os
import select

import exec.batch as batch
import exec.run as run
import exec.signals as signals
from faults.registry import fault, replaces


@fault("EXEC-SIGNAL-01", "SIGTERM to the caller sends SIGKILL to the child", "impatience")
def sigterm_is_sigkill():
    @replaces(run.Run)
    def first_signal(original, self, cause):
        # Only for a group of one process: a shell that runs a job and prints in its trap belongs to
        # another requirement.
        if cause.signal == _signal.SIGTERM and len(self.group.alive()) == 1:
            self.group.signal(_signal.SIGKILL)
        else:
            original(self, cause)


@fault("EXEC-SIGNAL-02", "SIGINT to the caller sends SIGTERM to the child", "pitfall H2")
def sigint_is_sigterm():
    @replaces(run.Run)
    def first_signal(original, self, cause):
        if cause.signal == _signal.SIGINT:
            self.group.signal(_signal.SIGTERM)
        original(self, cause)


def forwards_to_the_leader_alone(number):
    @replaces(run.Run)
    def first_signal(original, self, cause):
        if cause.signal == number and len(self.group.alive()) > 1:
            os.kill(self.group.leader, number)
        else:
            original(self, cause)


@fault("EXEC-SIGNAL-01", "SIGTERM to the caller reaches only the leader", "pitfall B5")
def sigterm_reaches_the_leader_alone():
    forwards_to_the_leader_alone(_signal.SIGTERM)


@fault("EXEC-SIGNAL-02", "SIGINT to the caller reaches only the leader", "pitfall B5")
def sigint_reaches_the_leader_alone():
    forwards_to_the_leader_alone(_signal.SIGINT)


@fault(
    "EXEC-SIGNAL-03",
    "a child that ends with exit code 0 after the signal is a success",
    "pitfall H4",
)
def exit_0_on_the_signal_is_a_success():
    @replaces(run.Run)
    def final(original, self, cause):
        silent = not any(output.kept for output in self.outputs)
        if cause.name == "parent_signal" and self.end == (os.CLD_EXITED, 0) and silent:
            cause = run.Cause("exit")
        return original(self, cause)


@fault("EXEC-SIGNAL-04", "after SIGKILL the result is the child's death", "status wins over cause")
def killed_child_has_its_own_result():
    @replaces(run.Run)
    def final(original, self, cause):
        if cause.name == "parent_signal" and self.end == (os.CLD_KILLED, _signal.SIGKILL):
            cause = run.Cause("exit")
        return original(self, cause)


@fault("EXEC-SIGNAL-05", "a second signal restarts the grace", "pitfall H6")
def second_signal_restarts_the_grace():
    @replaces(run.Run)
    def await_end(original, self, until, again=None):
        told = len(self.watch.noted)
        done = original(self, until, again)
        if not done and again is None and self.deadline is None and len(self.watch.noted) > told:
            return original(self, run.monotonic_ns() + 2_500_000_000)
        return done


@fault("EXEC-SIGNAL-06", "a signal after the deadline replaces the result", "pitfall H8")
def signal_takes_over():
    @replaces(run.Run)
    def final(original, self, cause):
        if cause.name == "timeout" and self.watch.noted:
            cause = run.Cause("parent_signal", self.watch.noted[0])
        return original(self, cause)


@fault("EXEC-SIGNAL-07", "pending_signals is always empty", "pitfall H10")
def pending_signals_are_forgotten():
    @replaces(batch.Batch)
    def finish(original, self, i, watch, answer):
        original(self, i, watch, answer)
        if isinstance(answer, dict):
            answer["pending_signals"] = []


@fault(
    "EXEC-SIGNAL-11",
    "signals are noticed only when the output pauses",
    "pitfall H21: ninja@f2bfbda3",
)
def output_comes_before_signals():
    @replaces(run.Run)
    def look(original, self):
        signals.handlers.collect()
        flood = self.outputs[0].length > 512 * 1024 and not self.end
        if flood and self.watch.noted:
            until = run.monotonic_ns() + 3_000_000_000
            while run.monotonic_ns() < until:
                select.poll().poll(5)
                self.turn(until)
        return original(self)


@fault("EXEC-SIGNAL-12", "SIGHUP is forwarded too", "pitfall H23: coreutils@d0a51c614")
def forwards_hup():
    signals.HANDLED = (*signals.HANDLED, _signal.SIGHUP)


@fault("EXEC-SIGNAL-14", "a newline follows the annotation", "pitfall G19: println")
def newline_after_the_annotation():
    @replaces(run.text)
    def pieces(original, chunks, cut, note):
        yield from original(chunks, cut, note)
        if note and note != run.TIMED_OUT and chunks:
            yield "\n"


@fault("EXEC-SIGNAL-14", "no second newline where stderr ends in one", "pitfall G19")
def joins_without_a_second_newline():
    @replaces(run.text)
    def pieces(original, chunks, cut, note):
        text = "".join(original(chunks, cut, note))
        yield text.replace("\n\nprocess interrupted", "\nprocess interrupted")


@fault("EXEC-SIGNAL-15", "output is lost after more than 8 signals", "pitfall H17")
def storm_loses_the_output():
    count = [0]

    class Counting:
        def __getattr__(self, name):
            return getattr(os, name)

        def read(self, fd, size):
            data = os.read(fd, size)
            count[0] += len(data)
            return data

    signals.os = Counting()

    @replaces(run.Run)
    def report(original, self, cause):
        # Except for longer output, which EXEC-DRAIN tests together with signals.
        if count[0] > 8 and self.outputs and self.outputs[0].length <= 300_000:
            self.outputs[0].kept.clear()
        return original(self, cause)


@fault("EXEC-SIGNAL-17", "SIGTERM is checked before SIGINT, every 100 ms", "two flags")
def two_flags():
    @replaces(run.Run)
    def look(original, self):
        if self.watch.noted and not self.end:
            select.poll().poll(60)
            signals.handlers.collect()
            self.watch.noted.sort(reverse=True)
        return original(self)


@fault(
    "EXEC-SIGNAL-01", "input that is unwritten after SIGTERM is a failed write", "EPIPE of our kill"
)
def payload_left_by_sigterm_is_a_failure():
    @replaces(run.Run)
    def final(original, self, cause):
        left = cause.name == "parent_signal" and self.input.rest
        return run.Cause("stdin") if left else original(self, cause)


@fault(
    "EXEC-SIGNAL-01",
    "with a deadline signals are noticed only when it passes",
    "a timer in place of sigwait()",
)
def deadlines_hide_signals():
    @replaces(run.Run)
    def interests(original, self):
        heard = {self.watch.waker.fd, signals.handlers.read_fd} if self.deadline else set()
        yield from (pair for pair in original(self) if pair[0] not in heard)


@fault(
    "EXEC-SIGNAL-02",
    "with debug signals are noticed only when there is output",
    "a loop over readline()",
)
def the_copy_hides_signals():
    @replaces(run.Run)
    def interests(original, self):
        heard = {self.watch.waker.fd, signals.handlers.read_fd} if self.tee else set()
        yield from (pair for pair in original(self) if pair[0] not in heard)


@fault(
    "EXEC-SIGNAL-03", "output above the cap after a signal makes it a cap", "the last cause wins"
)
def a_cap_takes_over_a_signal():
    @replaces(run.Run)
    def final(original, self, cause):
        if cause.name == "parent_signal" and any(output.over for output in self.outputs):
            return run.Cause("cap")
        return original(self, cause)


@fault("EXEC-SIGNAL-07", "signals after the first one are not listed", "one flag: interrupted")
def one_signal_is_remembered():
    @replaces(batch.Batch)
    def finish(original, self, i, watch, answer):
        original(self, i, watch, answer)
        if isinstance(answer, dict) and answer["termination"] == "parent_signal":
            answer["pending_signals"] = []


@fault("EXEC-SIGNAL-07", "signals after the child's exit are not listed", "checked during the wait")
def signals_behind_the_exit_are_forgotten():
    @replaces(batch.Batch)
    def finish(original, self, i, watch, answer):
        original(self, i, watch, answer)
        if isinstance(answer, dict) and answer["termination"] == "exit":
            answer["pending_signals"] = []
