"""Faults about input and output at the same time."""

import _signal
import errno
import os

import module.execution as execution
import module.runner as runner
from errors import Failed
from faults.registry import fault, replaces


def pass_stdin_on():
    """Let the module inherit the pipe as stdin, so that it must read as fast as the caller
    writes."""

    @replaces(runner)
    def hand_over_input(original):
        pass


class WritesFirst(execution.RawRun):
    def interests(self):
        for fd, events in super().interests():
            if self.input.fd < 0 or fd not in [output.fd for output in self.outputs]:
                yield fd, events


@fault("MODULE-PIPE-01", "all input is written before anything is read", "sandbox task, step 6")
def writes_first():
    pass_stdin_on()

    @replaces(execution.Execution)
    def make_run(original, self):
        return WritesFirst


@fault(
    "MODULE-PIPE-02",
    "input that the module does not read is an error",
    "sandbox task, step 6: write_all()?",
)
def unread_input_is_an_error():
    pass_stdin_on()

    @replaces(execution.Execution)
    def request(original, self, path):
        made = original(self, path)
        made.stdin_failure = "error"
        return made

    @replaces(execution.RawRun)
    def report(original, self, cause):
        if cause.name == "stdin":
            raise Failed("execution", f"failed to write stdin: {os.strerror(errno.EPIPE)}")
        return original(self, cause)


@fault(
    "MODULE-PIPE-03",
    "the file with the input stays open in the module",
    "memfd_create without MFD_CLOEXEC",
)
def input_stays_open():
    @replaces(runner)
    def hand_over_input(original):
        original()
        os.set_inheritable(os.dup(0), True)


@fault(
    "MODULE-PIPE-04",
    "signals that the runner ignores stay ignored in the module",
    "execve() in Python",
)
def ignores_what_the_runner_ignores():
    @replaces(runner)
    def become(original, path, environment):
        _signal.signal(_signal.SIGPIPE, _signal.SIG_IGN)
        original(path, environment)


@fault(
    "MODULE-PIPE-03",
    "inheritable descriptors of the caller reach the module",
    "close_fds=False, no close_range",
)
def what_was_left_open_comes_along():
    @replaces(runner)
    def close_inherited_descriptors(original):
        pass


@fault(
    "MODULE-PIPE-04",
    "signals that the runner blocks stay blocked in the module",
    "sigwait() in a thread",
)
def blocks_what_the_runner_blocks():
    @replaces(runner)
    def become(original, path, environment):
        _signal.pthread_sigmask(_signal.SIG_BLOCK, {_signal.SIGINT, _signal.SIGTERM})
        original(path, environment)
