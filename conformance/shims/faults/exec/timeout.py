"""Faults about the deadline."""

import os
from time import monotonic_ns

import exec.run as run
import exec.text as text
from exec.run import Cause
from faults.registry import fault, replaces


@fault("EXEC-TIMEOUT-01", "a run past its deadline has exit code 124", "timeout(1)")
def timeout_is_124():
    @replaces(run.Run)
    def report(original, self, cause):
        answer = original(self, cause)
        if cause.name == "timeout" and not self.watch.noted:
            answer["exit_code"] = 124
        return answer


@fault("EXEC-TIMEOUT-01", "a silent child's timeout is not annotated", "append where there is some")
def silent_timeout_is_not_annotated():
    @replaces(run.Run)
    def note(original, self, cause):
        silent = not self.outputs or not self.outputs[1].kept
        return None if cause.name == "timeout" and silent else original(self, cause)


@fault(
    "EXEC-TIMEOUT-02", "timeouts are rounded down to the tick", "pitfall G11: coreutils@cb7c210d3"
)
def rounds_down_to_the_tick():
    @replaces(run.Run)
    def begin_deadline(original, self):
        original(self)
        if self.deadline is not None:
            self.deadline -= self.request.timeout_ms % 100 * 1_000_000


@fault(
    "EXEC-TIMEOUT-01",
    "output above the cap after the deadline replaces the result",
    "the last cause wins",
)
def a_late_cap_takes_the_place():
    @replaces(run.Run)
    def final(original, self, cause):
        if cause.name == "timeout" and any(output.over for output in self.outputs):
            return run.Cause("cap")
        return original(self, cause)


@fault(
    "EXEC-TIMEOUT-03", "a deadline between two ticks is noticed much later", "seconds and a rest"
)
def looks_late():
    @replaces(run.Run)
    def begin_deadline(original, self):
        original(self)
        if self.deadline is not None and self.request.timeout_ms % 100:
            self.deadline += 2_000_000_000


@fault("EXEC-TIMEOUT-04", "a timeout of 0 means no timeout", "pitfall G9: reproc@a4082b0")
def zero_means_none():
    @replaces(run.Run)
    def begin_deadline(original, self):
        if self.request.timeout_ms:
            original(self)


@fault("EXEC-TIMEOUT-05", "the timeout is held in 32 bits", "DWORD, int")
def milliseconds_in_32_bits():
    @replaces(run.Run)
    def begin_deadline(original, self):
        if self.request.timeout_ms is not None:
            self.request.timeout_ms &= 0xFFFFFFFF
        original(self)


@fault("EXEC-TIMEOUT-05", "the timeout is converted to nanoseconds in 64 bits", "timeout * 1000000")
def nanoseconds_in_64_bits():
    @replaces(run.Run)
    def begin_deadline(original, self):
        original(self)
        if self.deadline is not None:
            self.deadline %= 2**64


@fault(
    "EXEC-TIMEOUT-06", "a child that exits 0 in the grace is a success", "status wins over cause"
)
def exit_0_in_the_grace_is_a_success():
    @replaces(run.Run)
    def final(original, self, cause):
        # Only without output: another requirement tests the annotation after output.
        silent = not any(output.kept for output in self.outputs)
        exited = self.end == (os.CLD_EXITED, 0) and not self.watch.noted
        if cause.name == "timeout" and silent and exited:
            cause = run.Cause("exit")
        return original(self, cause)


@fault(
    "EXEC-TIMEOUT-07",
    "a run whose child exits just after the deadline reports the exit code",
    "pitfall G14",
)
def mixes_exit_and_deadline():
    @replaces(run.Run)
    def end_group(original, self, cause):
        if cause.name == "timeout":
            self.turn(run.monotonic_ns() + 4_000_000)
            self.gone_already = self.group.leader_end()
        original(self, cause)

    @replaces(run.Run)
    def outcome(original, self, cause):
        mixed = cause.name == "timeout" and self.gone_already
        return ("timeout", self.end[1], None) if mixed else original(self, cause)


@fault(
    "EXEC-TIMEOUT-08",
    "the annotation stands before the output on stderr",
    "messages before details",
)
def annotation_comes_first():
    @replaces(run.text)
    def pieces(original, chunks, cut, note):
        # Except for output on two streams before a deadline, which EXEC-DRAIN tests.
        if note == run.TIMED_OUT and chunks and not chunks[0].startswith(b"also"):
            yield note + "\n"
            note = None
        yield from original(chunks, cut, note)


@fault("EXEC-TIMEOUT-08", "the annotation replaces stderr", "stderr = message")
def annotation_replaces_stderr():
    @replaces(run.text)
    def pieces(original, chunks, cut, note):
        kept = note != run.TIMED_OUT or b"".join(chunks).startswith(b"also")
        yield from original(chunks if kept else [], cut, note)


@fault("EXEC-TIMEOUT-11", "the deadline counts from the end of the spawn", "spawn, then now()")
def counts_from_the_end_of_the_spawn():
    @replaces(run.Run)
    def begin_deadline(original, self):
        self.spawned_at = monotonic_ns()
        original(self)


@fault("EXEC-TIMEOUT-09", "no second newline where stderr ends in one", "pitfall G19")
def joins_without_a_second_newline():
    @replaces(run.text)
    def pieces(original, chunks, cut, note):
        text = "".join(original(chunks, cut, note))
        yield text.replace("\n\n" + run.TIMED_OUT, "\n" + run.TIMED_OUT)


@fault(
    "EXEC-TIMEOUT-09",
    "after a cut character there is no newline before the annotation",
    "pitfall G19",
)
def joins_without_any_newline():
    @replaces(run.text)
    def pieces(original, chunks, cut, note):
        text = "".join(original(chunks, cut, note))
        yield text.replace("\ufffd\n" + run.TIMED_OUT, "\ufffd" + run.TIMED_OUT)


@fault("EXEC-TIMEOUT-10", "a deadline during the drains is a timeout", "one deadline for all of it")
def drains_can_time_out():
    @replaces(run.Run)
    def final(original, self, cause):
        past = self.deadline is not None and monotonic_ns() >= self.deadline
        if cause.name == "exit" and self.detached and past:
            return Cause("timeout")
        return original(self, cause)


@fault("EXEC-TIMEOUT-04", "with a timeout of 0 nothing is started", "if (!left) return timed_out()")
def zero_spares_the_spawn():
    @replaces(run.Run)
    def result(original, self):
        if self.request.timeout_ms == 0:
            return self.report(Cause("timeout"))
        return original(self)


@fault("EXEC-TIMEOUT-02", "each deadline counts from the start of the batch", "one clock for all")
def deadline_of_the_batch():
    starts: list[int] = []

    @replaces(run.Run)
    def begin_deadline(original, self):
        starts.append(self.clock)
        if self.request.timeout_ms is not None:
            self.deadline = min(starts) + self.request.timeout_ms * 1_000_000


@fault("EXEC-TIMEOUT-01", "a stderr of more than 64 KiB has no annotation", "a buffer that is full")
def a_long_stderr_has_no_annotation():
    @replaces(text)
    def as_json(original, chunks, cut=False, note=None):
        return original(chunks, cut, note if sum(map(len, chunks)) <= 65536 else None)
