"""Moments and outcomes that the tests of several contracts share."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from boxspec.api import Events, Failure, Late, NotMeasured, ShimProcess, Verdict, expect
from boxspec.api import programs as P
from boxspec.subject.observe import procs
from boxspec.subject.observe.lines import Deadline, poll
from boxspec.subject.observed import FromOutside


def elapsed_ms(since_ns: int, until_ns: int) -> float:
    return (until_ns - since_ns) / 1e6


def pass_time(ms: int) -> None:
    """A stretch that is itself what is measured over; never a way to wait for something."""
    subprocess.run([P.slow_exit, os.devnull, str(ms)], check=True, stdin=subprocess.DEVNULL)


def wanted_ms(pid: int) -> float:
    """Processor time that all threads had or stood in line for: a busy loop's is the clock's."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(sum(map(int, task.read_text().split()[:2])) for task in tasks) / 1e6


def need_no_loop(pid: int, wanted: float, looked: float, share: float) -> None:
    """Late where all threads come to rest, although they wanted more than their share of a time.

    wanted, looked: ms of a processor, and of the clock. Who stood in line for its turn is asleep
    when it had it; who loops is never.
    """
    if wanted / looked > share and until(lambda: is_asleep(pid), 2):
        was = f"{wanted:.0f} ms of {looked:.0f} ms"
        raise Late("time in line for a processor", f"under {share:.0%}", was)


def is_asleep(pid: int) -> bool:
    """Whether each of its threads sleeps; no, where one ends meanwhile."""
    return all(procs.thread_state(pid, each) == b"S" for each in procs.threads(pid))


def until(condition: Callable[[], bool], timeout_s: float = 10) -> bool:
    """Look at /proc until it says so: it has no events to wait for."""
    limit = Deadline(timeout_s)
    while not (holds := condition()) and not limit.over():
        poll([], 0.002)
    return holds


def attempted(events: Events, **wanted: int) -> None:
    """Nothing happened is no evidence: so many events of each word show that it was tried."""
    came = {word: len(events.all(word)) for word in wanted}
    if any(came[word] < count for word, count in wanted.items()):
        raise Failure(
            "what is looked for was tried",
            f"events, at least {wanted}",
            str(came),
            {"events": [str(event) for event in events.all()]},
            Verdict.UNPROVEN,
        )


def expect_none_left(seen: FromOutside, events: Events, **were: int) -> None:
    """No process of the run lives on, of those that these events show to have been there.

    Who was killed and is about to be gone does not live on; EXEC-KILL-13 asks for more.
    """
    attempted(events, **were)
    expect("processes of the run that live on", [each.describe() for each in seen.lasting], [])


def send(pid: int, name: str) -> None:
    """A signal to a process of the case; whether it is still there is for the result to say."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.Signals[f"SIG{name}"])


def need_preload(shim: ShimProcess[Any], name: str) -> None:
    """A static program, or one without libc, does not load it, and then it decides nothing."""
    if not shim.has_preload(name):
        raise NotMeasured(f"{name}.so was not loaded: the shim is static or has no dynamic loader")
