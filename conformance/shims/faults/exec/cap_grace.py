"""Faults of max_output_bytes in the grace period."""

import _signal
from time import monotonic_ns

import constants
import exec.run as run
from faults.registry import fault, replaces

KEEPS_ANNOTATION = ("timeout", "parent_signal")


def over(self):
    return any(output.over for output in self.outputs)


@fault("EXEC-CAP-04", "output beyond the cap ends the grace period", "a check in each read")
def too_much_output_ends_the_grace():
    @replaces(run.Run)
    def ended(original, self, fired):
        if over(self) and self.given_up is None:
            self.group.kill()
        return original(self, fired)


@fault(
    "EXEC-CAP-04",
    "output beyond the cap after a signal kills at once",
    "one kind of grace is forgotten",
)
def too_much_output_after_a_signal_kills():
    @replaces(run.Run)
    def terminate(original, self, cause):
        self.by_signal = cause.name == "parent_signal"
        original(self, cause)

    @replaces(run.Run)
    def ended(original, self, fired):
        if over(self) and getattr(self, "by_signal", False):
            self.group.kill()
        return original(self, fired)


@fault(
    "EXEC-CAP-04",
    "output beyond the cap after the deadline changes the outcome",
    "if (truncated) return CAP",
)
def a_cap_after_the_deadline_names_the_result():
    @replaces(run.Run)
    def final(original, self, cause):
        return run.Cause("cap") if cause.name == "timeout" and over(self) else original(self, cause)


@fault(
    "EXEC-CAP-04", "after a signal a cut result has no exit code", "truncated: exit_code unknown"
)
def a_cut_result_of_a_signal_has_no_exit_code():
    @replaces(run.Run)
    def outcome(original, self, cause):
        termination, code, signal = original(self, cause)
        lost = cause.name == "parent_signal" and over(self)
        return termination, None if lost else code, signal


@fault(
    "EXEC-CAP-04", "truncated is set only if the cap ended the run", "truncated = (cause == CAP)"
)
def truncated_is_the_cause_only():
    @replaces(run.Run)
    def report(original, self, cause):
        result = original(self, cause)
        result["truncated"] = result["truncated"] and cause.name not in KEEPS_ANNOTATION
        return result


@fault("EXEC-CAP-04", "a cut stderr has no annotation", "the annotation does not fit the cap")
def a_cut_stderr_has_no_annotation():
    @replaces(run.Run)
    def note(original, self, cause):
        return None if self.outputs and self.outputs[1].over else original(self, cause)


@fault("EXEC-CAP-04", "beyond the cap nothing is read", "the buffer is full")
def a_full_stream_is_not_read():
    @replaces(run.Run)
    def interests(original, self):
        signalled = hasattr(self, "signalled")
        full = [output.fd for output in self.outputs if output.over and signalled]
        yield from ((fd, events) for fd, events in original(self) if fd not in full)

    @replaces(run.Run)
    def first_signal(original, self, cause):
        self.signalled = True
        original(self, cause)


@fault("EXEC-CAP-04", "a pipe is closed at the cap", "close(fd) when full")
def a_full_pipe_is_closed():
    @replaces(run.Run)
    def take(original, self, output):
        original(self, output)
        if output.over and self.ending.members:
            output.close()


@fault(
    "EXEC-CAP-04", "output beyond the cap restarts the grace period", "terminate() for each cause"
)
def the_cap_restarts_the_grace():
    @replaces(run.Run)
    def terminate(original, self, cause):
        self.first_signal(cause)
        until, cut = monotonic_ns() + constants.GRACE_NS, False
        while not self.await_end(min(until, monotonic_ns() + constants.TICK_NS)):
            if over(self) and not cut:
                cut, until = True, monotonic_ns() + constants.GRACE_NS + 500_000_000
            if monotonic_ns() >= until:
                self.kill()
                return


@fault(
    "EXEC-CAP-04",
    "output beyond the cap sends the first signal again",
    "terminate() for each cause",
)
def the_cap_signals_again():
    @replaces(run.Run)
    def ended(original, self, fired):
        if over(self) and self.given_up is None and not hasattr(self, "again"):
            self.again = True
            self.group.signal(_signal.SIGTERM)
        return original(self, fired)


@fault("EXEC-CAP-03", "only the first stream that exceeds the cap is kept", "one buffer to cut")
def the_second_cut_stream_is_lost():
    @replaces(run.Run)
    def report(original, self, cause):
        over = [each for each in self.outputs if each.over]
        for each in over[1:]:
            each.kept = []
        return original(self, cause)
