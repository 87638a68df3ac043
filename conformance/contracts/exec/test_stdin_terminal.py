"""EXEC-STDIN-16 and -17: the caller's controlling terminal as stdin of a child."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from boxspec.api import NotApplicable, expect, requires
from boxspec.api import programs as P
from boxspec.subject.observe.lines import poll
from boxspec.subject.observe.terminals import open_terminal
from contracts.exec.client import BatchOptions, ExecCase, Run
from contracts.exec.moments import until
from contracts.exec.spawn_io import shell_request
from contracts.exec.terminal_ends import NOT_STOPPED, how_it_ended, how_two_ended
from contracts.shared.requests import ExecRequest
from contracts.shared.runs import RunAnswer

# A child that is not stopped needs much less time than this deadline.
AT_TERMINAL: ExecRequest = {"stdin": "inherit", "timeout_ms": 5000}
READ_A_LINE = 'read line; echo "got $line"'
CTRL_Z = b"\x1a"


class Terminal:
    """The controlling terminal of a shim that leads a session.

    Bytes that are written to `ours` act like typed input.
    """

    def __init__(self) -> None:
        self.ours, self.theirs = open_terminal()
        # The first terminal that a session leader opens becomes its controlling terminal.
        name = os.ttyname(self.theirs)
        self.options: BatchOptions = {
            "state": ["--setsid", "--leave-open", f"30={name}"],
            "shim_stdin": self.theirs,
        }

    def type(self, text: bytes) -> None:
        os.write(self.ours, text)

    def foreground(self) -> int:
        return os.tcgetpgrp(self.ours)


@contextmanager
def made_terminal() -> Iterator[Terminal]:
    terminal = Terminal()
    try:
        yield terminal
    finally:
        os.close(terminal.ours)
        os.close(terminal.theirs)


@requires("EXEC-STDIN-16", pitfalls=["B6", "B7"])
@pytest.mark.parametrize("before", ["", "stty -echo; "], ids=["reads", "sets and reads"])
def test_a_child_at_the_terminal_is_not_left_stopped(case: ExecCase, before: str) -> None:
    with made_terminal() as terminal:
        request = shell_request(before + READ_A_LINE) | AT_TERMINAL
        with case.exec.start(**request, **terminal.options) as shim:
            terminal.type(b"words\n")
            seen = shim.finish()
    expect("how the run ended", how_it_ended(seen, b"words"), NOT_STOPPED)


@requires("EXEC-STDIN-16")
def test_ctrl_z_does_not_leave_a_child_stopped(case: ExecCase) -> None:
    events, fifo = case.events(), case.fifo("gate")
    with made_terminal() as terminal:
        line = f'"$1" "$2" "$3"; {READ_A_LINE}'
        request = shell_request(line, P.gate, events.path, fifo) | AT_TERMINAL
        with case.exec.start(**request, **terminal.options) as shim:
            events.wait("ready")
            case.open_gate(fifo)
            terminal.type(CTRL_Z)
            # This line is typed after Ctrl-Z, because at Ctrl-Z the terminal discards earlier
            # input.
            terminal.type(b"words\n")
            seen = shim.finish()
    expect("how the run ended", how_it_ended(seen, b"words"), NOT_STOPPED)


@requires("EXEC-STDIN-16", capability="exec.concurrent")
def test_neither_of_two_children_at_one_terminal_is_left_stopped(case: ExecCase) -> None:
    with made_terminal() as terminal:
        request = shell_request(READ_A_LINE) | AT_TERMINAL
        with case.exec.start_batch([request, request], **terminal.options) as shim:
            terminal.type(b"words\nwords\n")
            seen = shim.finish()
    expect("how the runs ended", how_two_ended(seen.runs), [NOT_STOPPED, NOT_STOPPED])


# The time in which an implementation should notice that a child is stopped. After it the terminal
# becomes free.
NOTICED_S = 1.0
BEFORE_READING = {"SIGTTIN": "", "SIGTTOU": "stty -echo; "}


def ended(fifo: int) -> bool:
    """Read from a fifo, and return True once its last writer has closed it after some text."""
    with contextlib.suppress(BlockingIOError):
        while os.read(fifo, 100):
            pass
        return True
    return False


def two_at_one_terminal(case: ExecCase, before: str) -> tuple[RunAnswer, RunAnswer]:
    """Run a child that has the terminal, and start a second child that uses it too.

    The first child reads only after the second one has ended or was stopped for NOTICED_S.
    """
    events, gate, held = case.events(), case.fifo("gate"), case.fifo("held")
    owner = shell_request(f'"$1" "$2" "$3"; {READ_A_LINE}', P.gate, events.path, gate)
    other = shell_request(f'exec 3>"$1"; echo open >&3; {before}{READ_A_LINE}', held)
    reader = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with made_terminal() as terminal:
            runs: list[Run] = [owner | AT_TERMINAL, (300, other | AT_TERMINAL)]
            with case.exec.start_batch(runs, **terminal.options) as shim:
                events.wait("ready")
                # Before a writer opens the fifo, a read returns no bytes at once, as it does after
                # the last writer has closed it.
                until(lambda: poll([reader], 0) != set())
                until(lambda: ended(reader), NOTICED_S)
                case.open_gate(gate)
                terminal.type(b"words\nwords\n")
                seen = shim.finish()
    finally:
        os.close(reader)
    return seen.runs[0], seen.runs[1]


@requires("EXEC-STDIN-16", capability="exec.concurrent", overlap=1.5)
@pytest.mark.parametrize("signal", BEFORE_READING)
def test_a_child_without_the_terminal_is_not_left_stopped(case: ExecCase, signal: str) -> None:
    ends = how_two_ended(two_at_one_terminal(case, BEFORE_READING[signal]))
    expect("how the runs ended", ends, [NOT_STOPPED, NOT_STOPPED])


@requires("EXEC-RESULT-07", capability=("exec.concurrent", "exec.termination"), overlap=1.5)
@pytest.mark.parametrize("signal", BEFORE_READING)
def test_the_result_names_the_stop_by_the_terminal(case: ExecCase, signal: str) -> None:
    _, other = two_at_one_terminal(case, BEFORE_READING[signal])
    if other.result["success"]:
        raise NotApplicable("the child gets the terminal later")
    got = (other.result["termination"], other.result["signal"], other.result["exit_code"])
    expect("termination, signal, exit code", got, ("signal", signal, None))


def no_program(folder: Path) -> Path:
    """Create an executable file that execve refuses, so that the spawn fails in the child."""
    path = folder / "no-program"
    path.write_text("text\n")
    path.chmod(0o755)
    return path


ENDS: dict[str, Callable[[Path], ExecRequest]] = {
    "exit": lambda folder: shell_request("exit 0"),
    "deadline": lambda folder: shell_request("exec sleep 30") | {"timeout_ms": 200},
    "its own signal": lambda folder: shell_request("kill -KILL $$"),
    "failed spawn": lambda folder: {"program": str(no_program(folder))},
}


@requires("EXEC-STDIN-17")
@pytest.mark.parametrize("end", ENDS)
def test_the_caller_is_in_the_foreground_after_a_run(case: ExecCase, end: str) -> None:
    with made_terminal() as terminal:
        request = AT_TERMINAL | ENDS[end](case.tmp)
        options: BatchOptions = terminal.options | {"hold": True}
        with case.exec.start(**request, **options) as shim:
            shim.wait_response()
            foreground, caller = terminal.foreground(), os.getpgid(shim.shim_pid)
            shim.finish()
    expect("the foreground group of the terminal after the run", foreground, caller)


@requires("EXEC-STDIN-17", capability="exec.concurrent", overlap=0.6)
def test_the_caller_is_in_the_foreground_after_a_child_got_the_terminal_later(
    case: ExecCase,
) -> None:
    events, first, second = case.events(), case.fifo("first"), case.fifo("second")
    owner = shell_request('exec "$1" "$2" "$3"', P.gate, events.path, first)
    later = shell_request(f'"$1" "$2" "$3"; {READ_A_LINE}', P.gate, events.path, second)
    with made_terminal() as terminal:
        options: BatchOptions = terminal.options | {"hold": True}
        runs: list[Run] = [owner | AT_TERMINAL, (300, later | AT_TERMINAL)]
        with case.exec.start_batch(runs, **options) as shim:
            until(lambda: len(events.all("ready")) == 2)
            case.open_gate(first)
            caller = os.getpgid(shim.shim_pid)
            until(lambda: terminal.foreground() == caller, NOTICED_S)
            case.open_gate(second)
            terminal.type(b"words\n")
            shim.wait_response()
            foreground = terminal.foreground()
            shim.finish()
    expect("the foreground group of the terminal after both runs", foreground, caller)
