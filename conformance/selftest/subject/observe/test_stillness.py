"""Since when everybody of a run sleeps: by their counters and states, as the kernel has them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from boxspec.subject.observe import procs, stillness
from boxspec.subject.observe.stillness import Stillness

# It says so and reads on; each byte that comes lets it compute for a moment.
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
    """It has said so, and reads again."""
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


def test_who_sleeps_is_still_since_the_first_look(
    reader: subprocess.Popen[bytes], clock: Clock
) -> None:
    sleeps(reader)
    made = Stillness(lambda: members(reader.pid))
    look(made, clock, 8)
    assert made.seconds() == 7


def test_who_did_anything_between_two_looks_was_not_still(
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


def test_nobody_is_still_who_runs_or_is_ready_to(clock: Clock) -> None:
    made = Stillness(lambda: members(os.getpid()))
    look(made, clock, 8)
    assert made.seconds() == 0


@pytest.mark.parametrize(
    ("state", "still_s"), [(b"R", 0), (b"D", 0), (b"", 0), (b"S", 7), (b"Z", 7)]
)
def test_who_stands_in_line_counts_nothing_and_is_not_still(
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


def test_who_is_stopped_is_still(reader: subprocess.Popen[bytes], clock: Clock) -> None:
    os.kill(reader.pid, signal.SIGSTOP)
    os.waitpid(reader.pid, os.WUNTRACED)
    made = Stillness(lambda: members(reader.pid))
    look(made, clock, 3)
    assert made.seconds() == 2


def test_one_who_goes_on_is_enough(reader: subprocess.Popen[bytes], clock: Clock) -> None:
    sleeps(reader)
    made = Stillness(lambda: members(reader.pid, os.getpid()))
    look(made, clock, 8)
    assert made.seconds() == 0


def test_where_nobody_is_left_nobody_sleeps(clock: Clock) -> None:
    made = Stillness(list)
    look(made, clock, 8)
    assert made.seconds() == 0


def test_it_is_looked_once_a_second(clock: Clock) -> None:
    looks = list[float]()

    def everybody() -> list[procs.Proc]:
        looks.append(clock.now)
        return []

    made = Stillness(everybody)
    for _ in range(12):
        clock.now += 0.25
        made.glance()
    assert looks == [101.0, 102.0, 103.0]
