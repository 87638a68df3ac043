"""Faults of max_output_bytes."""

import _signal
import os

import exec.redact as redact
import exec.run as run
import exec.signals as signals
import exec.streams as streams
import exec.text as text
from faults.registry import fault, replaces


@fault(
    "EXEC-CAP-01", "at the cap the group gets SIGTERM and the usual grace", "one way to end for all"
)
def cap_is_polite():
    @replaces(run.Run)
    def end_group(original, self, cause):
        if cause.name == "cap":
            self.terminate(cause)
        else:
            original(self, cause)


@fault("EXEC-CAP-01", "the cap ends only the leader", "Child::kill, proc.kill()")
def cap_ends_the_leader_alone():
    @replaces(run.Run)
    def end_group(original, self, cause):
        if cause.name == "cap" and len(self.group.alive()) > 1:
            os.kill(self.group.leader, _signal.SIGKILL)
            self.group.exists = lambda: False
        else:
            original(self, cause)


@fault("EXEC-CAP-01", "a run that was ended at the cap is a success", "head -c habits")
def cut_run_is_a_success():
    @replaces(run.Run)
    def outcome(original, self, cause):
        return ("exit", 0, None) if cause.name == "cap" else original(self, cause)


@fault("EXEC-CAP-02", "the cap counts both streams together", "one budget")
def both_streams_count_together():
    @replaces(run.Run)
    def look(original, self):
        cap = self.request.max_output_bytes
        if cap is not None and sum(output.length for output in self.outputs) > cap:
            self.outputs[0].over = True
        return original(self)


@fault("EXEC-CAP-02", "output of exactly the cap ends the run", ">= for >")
def exactly_the_cap_is_too_much():
    @replaces(streams.Output)
    def keep(original, self, chunk):
        kept = original(self, chunk)
        self.over = self.over or self.length == self.cap
        return kept


@fault("EXEC-CAP-03", "one byte more than the cap is kept", "pitfall E16: bun#36169")
def keeps_a_byte_more():
    @replaces(streams.Output)
    def keep(original, self, chunk):
        kept = original(self, chunk)
        if len(kept) < len(chunk):
            self.kept.append(chunk[len(kept) : len(kept) + 1])
        return kept


@fault("EXEC-CAP-03", "a cut character becomes U+FFFD", "pitfall E17: synara#710")
def cut_character_is_replaced():
    @replaces(run.text)
    def decode(original, chunks, cut):
        return original(chunks, False)


@fault("EXEC-CAP-03", "the cap is annotated on stderr", "a friendly note")
def annotates_the_cap():
    @replaces(run.Run)
    def note(original, self, cause):
        return "output truncated" if cause.name == "cap" else original(self, cause)


@fault(
    "EXEC-CAP-01",
    "output that is read after the exit does not count for the cap",
    "only the loop checks",
)
def late_bytes_do_not_count():
    @replaces(run.Run)
    def final(original, self, cause):
        found = original(self, cause)
        return cause if found.name == "cap" and self.outputs_were_within else found

    @replaces(run.Run)
    def end_group(original, self, cause):
        # Only long output is affected, because other requirements test output of less than one
        # read.
        self.outputs_were_within = all(output.length > 60_000 for output in self.outputs[:1]) or (
            self.outputs[1].length > 60_000
        )
        original(self, cause)


@fault(
    "EXEC-CAP-03",
    "with a cap, an incomplete character is dropped even without a cut",
    "trim if (cap)",
)
def unfinished_ends_are_dropped():
    @replaces(run.Run)
    def stream(original, self, i, note=None):
        for output in self.outputs:
            output.over = output.over or output.cap is not None
        return original(self, i, note)

    @replaces(run.Run)
    def report(original, self, cause):
        over = any(output.over for output in self.outputs)
        return {**original(self, cause), "truncated": over}


@fault(
    "EXEC-CAP-03", "bytes at the cut that are no character are dropped too", "trim while not valid"
)
def bad_bytes_at_the_cut_are_dropped():
    @replaces(text)
    def decode(original, chunks, cut):
        pieces = list(original(chunks, cut))
        if cut and pieces:
            pieces[-1] = pieces[-1].rstrip("\ufffd")
        return iter(pieces)


@fault(
    "EXEC-CAP-01",
    "input that is unwritten when the cap ends the run is a failed write",
    "EPIPE of our SIGKILL",
)
def payload_left_by_the_cap_is_a_failure():
    @replaces(run.Run)
    def final(original, self, cause):
        left = cause.name == "cap" and self.input.rest
        return run.Cause("stdin") if left else original(self, cause)


@fault("EXEC-CAP-03", "the cap does not apply after the deadline", "if (!ended && over)")
def cap_is_off_behind_a_deadline():
    @replaces(run.Run)
    def terminate(original, self, cause):
        for output in self.outputs:
            output.cap = None
        original(self, cause)


@fault("EXEC-CAP-02", "with debug the cap counts the bytes of the copy", "redact, then count")
def counts_the_copy():
    @replaces(run.Run)
    def take(original, self, output):
        original(self, output)
        if self.tee and output.cap is not None:
            copied = b"".join(output.kept)
            for value in self.tee.redactors[output.name].values:
                copied = copied.replace(value, redact.MARK)
            output.over = output.over or len(copied) > output.cap


@fault("EXEC-CAP-02", "at exactly the cap the exit code is lost", "full counts as exceeded")
def a_full_stream_has_no_exit_code():
    @replaces(run.Run)
    def outcome(original, self, cause):
        termination, code, signal = original(self, cause)
        full = any(output.length == output.cap for output in self.outputs)
        return termination, None if full and code else code, signal


@fault("EXEC-CAP-02", "with a cap an exit code is 0 or null", "the status of `head -c`")
def the_exit_code_is_that_of_the_reader():
    @replaces(run.Run)
    def outcome(original, self, cause):
        termination, code, signal = original(self, cause)
        return termination, None if self.request.max_output_bytes and code else code, signal


@fault("EXEC-CAP-01", "a signal after the cap names the result", "if (got_signal) return 128 + n")
def a_signal_after_the_cap_names_the_result():
    @replaces(run.Run)
    def final(original, self, cause):
        signals.handlers.collect()
        if cause.name == "cap" and self.watch.noted:
            return run.Cause("parent_signal", self.watch.noted.pop(0))
        return original(self, cause)


@fault("EXEC-CAP-01", "the cap is not checked once a stream is closed", "while (out && err)")
def a_closed_stream_ends_the_check():
    @replaces(run.Run)
    def look(original, self):
        if all(output.fd >= 0 for output in self.outputs):
            return original(self)
        over = [output.over for output in self.outputs]
        for output in self.outputs:
            output.over = False
        cause = original(self)
        for output, each in zip(self.outputs, over, strict=True):
            output.over = each
        return cause
