"""Faults about the time that a module may take."""

import _signal
import os
from time import monotonic_ns

import exec.group as group
import exec.run as run
import module.execution as execution
import reader
from faults.registry import fault, replaces


@fault("MODULE-TIME-01", "the timeout is taken as seconds", "Duration::from_secs")
def seconds():
    @replaces(execution.Execution)
    def request(original, self, path):
        made = original(self, path)
        made.timeout_ms *= 1000 if self.timeout_ms else 1
        return made


@fault("MODULE-TIME-01", "the timeout ends a little early", "a safety margin")
def a_margin():
    @replaces(execution.Execution)
    def request(original, self, path):
        made = original(self, path)
        made.timeout_ms -= made.timeout_ms // 3
        return made


@fault("MODULE-TIME-01", "the Timeout error does not contain the timeout", "errors of the library")
def without_its_figure():
    @replaces(execution.Execution)
    def judge(original, self, *given):
        try:
            return original(self, *given)
        except execution.Failure as failure:
            failure.fields.pop("timeout_ms", None)
            raise


@fault("MODULE-TIME-02", "a timeout of 0 means 300 ms", "a unit was mixed up")
def zero_is_300_ms():
    # Only a 0 in the request is affected: without the field a module may need longer.
    @replaces(reader.Reader)
    def take_integer(original, self, name):
        value = original(self, name)
        return 300 if (name, value) == ("timeout_ms", 0) else value


@fault("MODULE-TIME-03", "a timeout kills only the module, not its group", "child.kill()")
def kills_the_module_alone():
    @replaces(run.Run)
    def terminate(original, self, cause):
        import _signal
        import os

        os.kill(self.group.leader, _signal.SIGKILL)
        self.end = None
        while not self.end:
            self.end = self.group.leader_end()
        for output in self.outputs:
            output.close()
        self.group.exists = lambda: False


@fault("MODULE-TIME-03", "a timeout kills without a grace period", "tokio's kill_on_drop")
def kills_at_once():
    @replaces(run.Run)
    def terminate(original, self, cause):
        self.kill()


@fault("MODULE-TIME-03", "the first signal goes only to the module", "child.terminate()")
def the_first_signal_is_the_modules_alone():
    @replaces(group.Group)
    def signal(original, self, number):
        if number == _signal.SIGTERM:
            os.kill(self.leader, number)
        else:
            original(self, number)


@fault(
    "MODULE-TIME-04",
    "for a timeout of 0 the error does not contain the default that was used",
    "the field of the request",
)
def zero_is_told_as_zero():
    @replaces(execution.Execution)
    def judge(original, self, *given):
        try:
            return original(self, *given)
        except execution.Failure as failure:
            if failure.name == "Timeout":
                failure.fields["timeout_ms"] = self.timeout_ms
            raise


@fault(
    "MODULE-TIME-04", "the timeout in the error differs from the one that was used", "two constants"
)
def two_constants():
    @replaces(execution.Execution)
    def request(original, self, path):
        made = original(self, path)
        made.timeout_ms = self.timeout_ms or 60_000
        return made


@fault(
    "MODULE-TIME-01",
    "the timeout does not apply after the outputs are closed",
    "wait() after the last read",
)
def closed_outputs_stop_the_clock():
    @replaces(execution.RawRun)
    def look(original, self):
        if all(output.fd < 0 for output in self.outputs):
            self.deadline = None
        return original(self)


@fault("MODULE-TIME-01", "each byte of output restarts the timeout", "a timeout of the read")
def each_byte_begins_anew():
    @replaces(execution.RawRun)
    def take(original, self, output):
        original(self, output)
        if self.deadline is not None:
            self.deadline = monotonic_ns() + self.request.timeout_ms * 1_000_000


@fault("MODULE-TIME-01", "a very long timeout ends at once", "setTimeout() beyond 2^31 - 1")
def a_long_time_is_a_moment():
    @replaces(execution.Execution)
    def request(original, self, path):
        made = original(self, path)
        made.timeout_ms = 1 if made.timeout_ms >= 1 << 31 else made.timeout_ms
        return made


def another_grace(seconds):
    @replaces(run.Run)
    def terminate(original, self, cause):
        self.first_signal(cause)
        if not self.await_end(monotonic_ns() + seconds * 1_000_000_000):
            self.kill()


@fault("MODULE-TIME-03", "the grace period is two seconds", "a constant of its own")
def two_seconds_of_grace():
    another_grace(2)


@fault("MODULE-TIME-03", "the grace period is fifteen seconds", "a constant of its own")
def fifteen_seconds_of_grace():
    another_grace(15)
