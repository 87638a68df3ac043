"""Tests of reading /proc: which process has not reaped a zombie, and process names that look like
other fields of /proc/PID/stat."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from boxspec.proc_lines import proc_lines
from boxspec.subject.observe import procs
from boxspec.subject.observe.procs import Proc, uncollected

SHIM, WARDEN = 20, 10


def process(state: str, parent: int, threads: int = 1) -> Proc:
    return Proc(30, parent, 30, 30, state, 0, threads, "sleep")


@pytest.mark.parametrize(
    ("each", "is_left"),
    [
        (process("Z", SHIM), True),
        # The warden will reap the zombie later, so it does not count.
        (process("Z", WARDEN), False),
        (process("S", SHIM), False),
        (process("Z", SHIM, threads=2), False),
    ],
    ids=["of the shim", "of the warden", "alive", "with threads that live on"],
)
def test_a_zombie_belongs_to_the_parent_that_does_not_reap_it(each: Proc, is_left: bool) -> None:
    assert uncollected([each], WARDEN) == [each] * is_left


# Takes its argument as the name of the process (PR_SET_NAME), and waits.
NAMED = """
import ctypes, sys
ctypes.CDLL(None).prctl(15, sys.argv[1].encode())
print(flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("name", "fact", "expected"),
    [
        ("\rSigPnd:100", lambda pid: procs._all_threads_are_dying(pid), False),
        ("\rNSpid:1 2", lambda pid: procs.known_inside_as(pid), None),
        ("\rThreads:\t9", lambda pid: procs.Status(pid)["Name"], "Threads:\t9"),
    ],
    ids=["a signal", "a namespace", "threads"],
)
def test_a_process_cannot_give_a_fact_by_its_name(
    name: str, fact: Callable[[int], object], expected: object
) -> None:
    words = [sys.executable, "-c", NAMED, name]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert fact(child.pid) == expected
        child.communicate()


def test_only_a_line_feed_ends_a_line() -> None:
    assert proc_lines(b"a\rb\x0b\xff\n\nc\n") == ["a\rb\x0b\udcff", "", "c"]
    assert proc_lines(b"") == proc_lines(None) == []
