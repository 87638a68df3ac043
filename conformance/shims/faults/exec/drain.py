"""Faults in reading the output."""

import select
from time import monotonic_ns

import exec.run as run
import exec.streams as streams
import exec.text as text
from faults.exec.deadline import restart_deadline
from faults.registry import fault, replaces

MIB = 1024 * 1024


@fault("EXEC-DRAIN-01", "stderr is read when stdout has ended", "pitfall E1: miniforge#1887")
def stdout_before_stderr():
    @replaces(run.Run)
    def interests(original, self):
        out, err = self.outputs
        plain = self.request.max_output_bytes is None and not self.tee
        waits = out.fd >= 0 and plain and not self.end
        yield from (pair for pair in original(self) if not waits or pair[0] != err.fd)


@fault("EXEC-DRAIN-02", "the last output before the exit is lost", "pitfall E5: muontrap#104")
def loses_the_tail():
    @replaces(run.Run)
    def report(original, self, cause):
        kept, payload = self.outputs[0].kept, isinstance(self.request.stdin, bytes)
        # Except for longer output or a payload, which other requirements test.
        if cause.name == "exit" and not payload and 65_536 < self.outputs[0].length < 300_000:
            kept.pop()
        return original(self, cause)


@fault("EXEC-DRAIN-02", "a read that fills the buffer loses its last byte", "buffer[n] = 0")
def loses_a_byte_of_a_full_buffer():
    @replaces(run.Run)
    def spawn(original, self):
        original(self)
        err = self.outputs[1]
        keep = err.keep

        def keep_text(chunk):
            return keep(chunk[:-1] if len(chunk) == streams.CHUNK else chunk)

        # Except with a cap or a debug copy, which other requirements test.
        if err.cap is None and not self.tee:
            err.keep = keep_text


@fault("EXEC-DRAIN-02", "the tail of a digest repeats its head", "copy and paste")
def digests_end_as_they_begin():
    @replaces(text)
    def digest(original, texts):
        told = original(texts)
        return told | {"tail_b64": told["head_b64"]}


@fault("EXEC-DRAIN-02", "with a deadline output is read only after the exit", "wait, then read")
def read_at_the_end_under_a_deadline():
    @replaces(run.Run)
    def interests(original, self):
        # Only with long deadlines and without a payload, because other requirements test the other
        # runs.
        far = (self.request.timeout_ms or 0) >= 8000 and not self.input.rest
        waits = {output.fd for output in self.outputs} if far and not self.end else ()
        yield from (pair for pair in original(self) if pair[0] not in waits)


@fault("EXEC-DRAIN-03", "both streams go into one buffer", "pitfall E14: 2>&1")
def one_buffer_for_both():
    @replaces(run.Run)
    def take(original, self, output):
        out, err = self.outputs
        before = len(err.kept)
        original(self, output)
        # Runs of many requirements have a little output on both streams, and the number of reads
        # for it depends on the machine.
        much = len(err.kept) > before and min(out.length, err.length) > 100
        plain = self.request.max_output_bytes is None and not self.tee
        if output is err and much and plain:
            out.kept.append(err.kept.pop())


@fault("EXEC-DRAIN-04", "the end of one stream ends the run", "EOF means exit")
def eof_ends_the_run():
    @replaces(run.Run)
    def await_cause(original, self):
        while not (cause := self.look()):
            self.turn(self.deadline)
            closed = any(output.fd < 0 for output in self.outputs)
            # Only if the child still runs: programs of many requirements close stdout shortly
            # before they exit.
            if closed and not self.group.leader_end():
                select.poll().poll(20)
                if not self.group.leader_end():
                    self.group.kill()
        return cause


@fault(
    "EXEC-DRAIN-05",
    "closed pipes stay in the poll set, which then never waits",
    "pitfall E4: Supervisor#589",
)
def spins_on_closed_pipes():
    @replaces(run.Run)
    def patience_ms(original, self, until):
        closed = all(output.fd < 0 for output in self.outputs)
        return 0 if closed and not self.end else original(self, until)


@fault("EXEC-DRAIN-06", "output extends the deadline", "pitfall E15: idle timeouts")
def output_puts_the_deadline_off():
    @replaces(run.Run)
    def take(original, self, output):
        original(self, output)
        if self.deadline is not None and output.length > MIB:
            select.poll().poll(5)
            restart_deadline(self)


@fault("EXEC-DRAIN-07", "output after the deadline is not kept", "pitfall E11")
def stops_reading_at_the_deadline():
    @replaces(run.Run)
    def end_group(original, self, cause):
        if cause.name == "timeout":
            self.take = lambda output: output.read() and output.kept.pop()
        original(self, cause)


@fault("EXEC-DRAIN-07", "stdout of a run that timed out is dropped", "pitfall E10")
def timeout_discards_stdout():
    @replaces(run.Run)
    def report(original, self, cause):
        if cause.name == "timeout":
            self.outputs[0].kept.clear()
        return original(self, cause)


@fault(
    "EXEC-DRAIN-08",
    "an escaped process that holds a pipe is waited for",
    "pitfall G16: go#23019, cpython#76116",
)
def waits_for_escapees():
    @replaces(run.Run)
    def drain(original, self):
        run.LINGER_NS = 1_000_000_000 if self.input.rest else 4_000_000_000
        original(self)


@fault(
    "EXEC-DRAIN-08",
    "output is dropped if an escaped process holds the pipe",
    "WaitDelay without a read",
)
def drops_what_an_escapee_shares():
    @replaces(run.Run)
    def drain(original, self):
        original(self)
        if self.detached:
            self.outputs[0].kept.clear()


@fault("EXEC-DRAIN-09", "detached writers are never reported", "go before ErrWaitDelay")
def detached_is_never_told():
    @replaces(run.Run)
    def drain(original, self):
        original(self)
        self.detached = False


@fault(
    "EXEC-DRAIN-09",
    "every run with exit code 0 is reported with detached writers",
    "a flag with another meaning",
)
def detached_is_always_told():
    @replaces(run.Run)
    def report(original, self, cause):
        self.detached = cause.name == "exit"
        return original(self, cause)


@fault("EXEC-DRAIN-10", "output is lost after an interrupted read", "EINTR after realloc")
def interrupted_read_is_lost():
    @replaces(run.Run)
    def end_group(original, self, cause):
        self.interrupted = cause.name == "parent_signal"
        original(self, cause)

    @replaces(run.Run)
    def take(original, self, output):
        before = output.length
        original(self, output)
        # Except for shorter output with many signals, which another requirement tests.
        if getattr(self, "interrupted", False) and before <= 400_000 < output.length:
            output.kept.pop()


@fault(
    "EXEC-DRAIN-08",
    "output of an escaped process restarts the drain limit",
    "a timer for each read",
)
def waits_as_long_as_something_comes():
    @replaces(run.Run)
    def drain(original, self):
        original(self)
        while self.detached and monotonic_ns() - self.last_ns < 500_000_000:
            original(self)

    @replaces(run.Run)
    def take(original, self, output):
        before = output.length
        original(self, output)
        if output.length > before:
            self.last_ns = monotonic_ns()

    run.Run.last_ns = 0  # type: ignore[attr-defined]


@fault(
    "EXEC-DRAIN-09",
    "detached writers that hold only stderr are not reported",
    "only stdout is checked",
)
def holders_of_stderr_are_not_told():
    @replaces(run.Run)
    def drain(original, self):
        original(self)
        self.detached = self.outputs[0].fd >= 0


@fault(
    "EXEC-DRAIN-07",
    "after a deadline the drain takes a full second",
    "a timer from the first signal",
)
def reads_a_second_behind_the_deadline():
    @replaces(run.Run)
    def terminate(original, self, cause):
        self.reads_until = monotonic_ns() + run.LINGER_NS
        original(self, cause)

    @replaces(run.Run)
    def take(original, self, output):
        kept, length = len(output.kept), output.length
        original(self, output)
        if monotonic_ns() >= getattr(self, "reads_until", monotonic_ns() + 1):
            del output.kept[kept:]
            output.length = length


@fault(
    "EXEC-DRAIN-09",
    "writers that close the pipe in time are reported as detached",
    "checked when the child has ended",
)
def told_of_those_who_let_go():
    @replaces(run.Run)
    def drain(original, self):
        for _ in range(3):
            self.turn(monotonic_ns())
        held = any(output.fd >= 0 for output in self.outputs)
        original(self)
        self.detached = held


@fault(
    "EXEC-DRAIN-08",
    "an incomplete character is lost if the stream does not end",
    "on('end') decodes the rest",
)
def cut_end_is_lost_without_an_end():
    @replaces(run.Run)
    def stream(original, self, i, note=None):
        if not self.detached:
            return original(self, i, note)
        output = self.outputs[i]
        return text.as_json(output.kept, True, note)


@fault(
    "EXEC-DRAIN-09",
    "detached writers are not reported after a deadline",
    "a field of the clean exit",
)
def detached_behind_an_exit_alone():
    @replaces(run.Run)
    def drain(original, self):
        original(self)
        self.detached = self.detached and not self.cut_short

    @replaces(run.Run)
    def terminate(original, self, cause):
        self.cut_short = True
        original(self, cause)

    run.Run.cut_short = False  # type: ignore[attr-defined]


@fault(
    "EXEC-DRAIN-08", "output of an escaped process is lost after a deadline", "cancelled readers"
)
def output_of_cancelled_reads_is_lost():
    @replaces(run.Run)
    def drain(original, self):
        original(self)
        if self.detached and self.deadline is not None and monotonic_ns() > self.deadline:
            for output in self.outputs:
                output.kept.clear()
