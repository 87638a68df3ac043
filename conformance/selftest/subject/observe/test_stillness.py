"""Tests of Stillness, which measures in /proc for how long all processes of a run have slept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from boxspec.subject.observe import procs, stillness
from boxspec.subject.observe.stillness import Stillness

# A program that writes a byte and then reads. Each byte that it reads makes it compute for a
# moment.
READS = "import os\nwhile True:\n os.write(1, b'!')\n if not os.read(0, 1): break"


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(stillness, "time", made)
    return made


@pytest.fixture
def reader() -> Iterator[subprocess.Popen[bytes]]:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", READS], stdin=pipe, stdout=pipe) as made:
        yield made
        made.kill()


def sleeps(reader: subprocess.Popen[bytes]) -> None:
    """Wait until the reader has written its byte and waits for the next one."""
    assert reader.stdout is not None
    assert reader.stdout.read(1) == b"!"
    procs.at_rest(reader.pid, within_s=30)


def members(*pids: int) -> list[procs.Proc]:
    found = [procs.proc(pid) for pid in pids]
    return [each for each in found if each is not None]


def look(made: Stillness, clock: Clock, seconds: int) -> None:
    for _ in range(seconds):
        clock.now += 1
        made.glance()


def test_a_sleeping_process_is_still_since_the_first_check(
    reader: subprocess.Popen[bytes], clock: Clock
) -> None:
    sleeps(reader)
    made = Stillness(lambda: members(reader.pid))
    look(made, clock, 8)
    assert made.seconds() == 7


def test_a_process_that_ran_between_two_checks_was_not_still(
    reader: subprocess.Popen[bytes], clock: Clock
) -> None:
    sleeps(reader)
    made = Stillness(lambda: members(reader.pid))
    look(made, clock, 8)
    assert reader.stdin is not None
    reader.stdin.write(b"x")
    reader.stdin.flush()
    sleeps(reader)
    look(made, clock, 3)
    assert made.seconds() == 2


def test_a_running_or_runnable_process_is_not_still(clock: Clock) -> None:
    made = Stillness(lambda: members(os.getpid()))
    look(made, clock, 8)
    assert made.seconds() == 0


@pytest.mark.parametrize(
    ("state", "still_s"), [(b"R", 0), (b"D", 0), (b"", 0), (b"S", 7), (b"Z", 7)]
)
def test_a_process_that_waits_for_a_processor_is_not_still(
    reader: subprocess.Popen[bytes],
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    state: bytes,
    still_s: float,
) -> None:
    sleeps(reader)
    monkeypatch.setattr(procs, "thread_state", lambda *_: state)
    made = Stillness(lambda: members(reader.pid))
    look(made, clock, 8)
    assert made.seconds() == still_s


def test_a_stopped_process_is_still(reader: subprocess.Popen[bytes], clock: Clock) -> None:
    os.kill(reader.pid, signal.SIGSTOP)
    os.waitpid(reader.pid, os.WUNTRACED)
    made = Stillness(lambda: members(reader.pid))
    look(made, clock, 3)
    assert made.seconds() == 2


def test_one_active_process_is_enough(reader: subprocess.Popen[bytes], clock: Clock) -> None:
    sleeps(reader)
    made = Stillness(lambda: members(reader.pid, os.getpid()))
    look(made, clock, 8)
    assert made.seconds() == 0


def test_without_processes_there_is_no_stillness(clock: Clock) -> None:
    made = Stillness(list)
    look(made, clock, 8)
    assert made.seconds() == 0


def test_stillness_is_checked_once_a_second(clock: Clock) -> None:
    looks = list[float]()

    def everybody() -> list[procs.Proc]:
        looks.append(clock.now)
        return []

    made = Stillness(everybody)
    for _ in range(12):
        clock.now += 0.25
        made.glance()
    assert looks == [101.0, 102.0, 103.0]
