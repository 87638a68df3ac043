"""Tests of real-time priority: the kit runs with it, but leaves processors to the programs that it
waits for."""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from boxspec.subject.attempt import Attempt
from boxspec.subject.observe import procs
from boxspec.subject.observe import realtime as real_time
from boxspec.subject.observe.lines import poll
from boxspec.subject.observe.realtime import PRIORITY, TARGETS, realtime
from boxspec.subject.observe.warden import Warden

FIFO, RR = os.SCHED_FIFO, os.SCHED_RR


@pytest.fixture
def front() -> Iterator[None]:
    with realtime() as there:
        if not there:
            pytest.skip("this user may not have a real-time priority")
        yield


def scheduling(pid: int) -> tuple[int, int] | None:
    """Return policy and realtime priority, fields 41 and 40 of proc(5)."""
    stat = procs.read(f"/proc/{pid}/stat")
    fields = stat.rpartition(b")")[2].split() if stat else []
    return (int(fields[38]), int(fields[37])) if fields else None


def started(script: str, *flags: str) -> Warden:
    with Path(os.devnull).open("r+b") as null:
        ends = {name: null.fileno() for name in ("stdin", "stdout", "stderr")}
        return Warden(["/bin/sh", "-c", script], flags=["--realtime", *flags], env={}, **ends)


@pytest.mark.usefixtures("front")
def test_programs_of_a_shim_have_lower_priority_than_the_kit() -> None:
    warden = started("while :; do read -r line; done")
    try:
        assert scheduling(warden.pid) == (FIFO, PRIORITY)
        assert scheduling(warden.shim_pid) == (RR, TARGETS)
    finally:
        warden.close()


@pytest.mark.usefixtures("front")
@pytest.mark.parametrize(
    ("flags", "seconds"), [([], 2), (Attempt(realtime=True, hung=True).flags, 45)]
)
def test_after_a_hang_the_kernel_kills_a_loop_later(flags: list[str], seconds: int) -> None:
    warden = started("while :; do read -r line; done", *flags[1:])
    try:
        limits = resource.prlimit(warden.shim_pid, resource.RLIMIT_RTTIME)
        assert limits == (seconds * 1_000_000,) * 2
    finally:
        warden.close()


@pytest.mark.usefixtures("front")
def test_reading_proc_does_not_starve_the_shim(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    opens = os.open

    def noted(*args: Any) -> int:
        seen.append(os.sched_getscheduler(0))
        return opens(*args)

    monkeypatch.setattr(os, "open", noted)
    assert procs.read("/proc/self/stat")
    assert procs.threads(os.getpid())
    assert (seen, os.sched_getscheduler(0)) == ([RR], FIFO)
    assert os.sched_getparam(0).sched_priority == PRIORITY


@pytest.mark.usefixtures("front")
def test_a_sweep_takes_turns_with_those_that_it_ends() -> None:
    """While a process ends, the kernel may make the warden's sweep wait for that process. So both
    must get processor time."""
    script = "n=0; while [ $n -lt 300 ]; do sleep 60 & n=$((n + 1)); done; wait"
    warden = started(script)
    seen: set[tuple[int, int] | None] = set()
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.0005):
            seen.add(scheduling(warden.pid))

    watching = threading.Thread(target=watch)
    try:
        while len(procs.children(warden.shim_pid)) < 300:
            poll([], 0.005)
        assert scheduling(warden.pid) == (FIFO, PRIORITY)
        watching.start()
    finally:
        warden.close()
        over.set()
    watching.join()
    assert (RR, TARGETS) in seen


@pytest.mark.usefixtures("front")
def test_two_runs_do_not_have_the_priority_at_the_same_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(real_time, "LOCK_S", 0.0)
    # The second call opens the lock file again, as another run would do.
    with realtime() as second:
        assert not second
    assert os.sched_getscheduler(0) == FIFO
