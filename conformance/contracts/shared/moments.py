"""Waiting and expectations that the tests of several contracts share."""

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
from boxspec.subject.case import Case
from boxspec.subject.observe import procs
from boxspec.subject.observe.lines import Deadline, poll
from boxspec.subject.observed import FromOutside


def elapsed_ms(since_ns: int, until_ns: int) -> float:
    return (until_ns - since_ns) / 1e6


def pass_time(ms: int) -> None:
    """Let some time pass, for a measurement. Never use it to wait for an event."""
    subprocess.run([P.slow_exit, os.devnull, str(ms)], check=True, stdin=subprocess.DEVNULL)


def wanted_ms(pid: int) -> float:
    """Return the time in ms that all threads of a process have run or waited for a processor.

    For a busy loop this is the whole elapsed time.
    """
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(sum(map(int, task.read_text().split()[:2])) for task in tasks) / 1e6


def late_without_busy_loop(pid: int, wanted: float, looked: float, share: float) -> None:
    """Raise Late if a process used much processor time but then sleeps, so that it has no busy
    loop.

    A thread that only waited for a processor sleeps afterwards; a busy loop never sleeps.
    wanted: ms in which the threads ran or waited for a processor.
    looked: elapsed ms.
    share: the share of `looked` from which there may be a busy loop.
    """
    if wanted / looked > share and until(lambda: is_asleep(pid), 2):
        was = f"{wanted:.0f} ms of {looked:.0f} ms"
        raise Late("time in line for a processor", f"under {share:.0%}", was)


def is_asleep(pid: int) -> bool:
    """True if each thread of the process sleeps. If a thread ends meanwhile, the result is
    False."""
    return all(procs.thread_state(pid, each) == b"S" for each in procs.threads(pid))


def until(condition: Callable[[], bool], timeout_s: float = 10) -> bool:
    """Check a condition repeatedly until it is true. Use it for /proc, which reports no events."""
    limit = Deadline(timeout_s)
    while not (holds := condition()) and not limit.over():
        poll([], 0.002)
    return holds


def attempted(events: Events, **wanted: int) -> None:
    """Expect this number of events of each word, as evidence that the attempts were made."""
    came = {word: len(events.all(word)) for word in wanted}
    if any(came[word] < count for word, count in wanted.items()):
        raise Failure(
            "the attempts took place",
            f"events, at least {wanted}",
            str(came),
            {"events": [str(event) for event in events.all()]},
            Verdict.UNPROVEN,
        )


def expect_none_left(seen: FromOutside, events: Events, **were: int) -> None:
    """Expect that no process of the run is left. The events prove that the processes existed.

    A killed process that is about to end does not count; EXEC-KILL-13 is stricter.
    """
    attempted(events, **were)
    expect(
        "processes of the run that are still alive", [each.describe() for each in seen.lasting], []
    )


def send(pid: int, name: str) -> None:
    """Send a signal to a process of the case, which may have ended."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.Signals[f"SIG{name}"])


def stop_caller(shim: ShimProcess[Any]) -> None:
    """Stop the shim. When it continues, it notices several events at once."""
    shim.signal("STOP")
    until(lambda: shim.status().get("State", "").startswith("T"))


def need_preload(shim: ShimProcess[Any], name: str) -> None:
    """Raise NotMeasured if the shim has not loaded the library, for example because it is
    static."""
    if not shim.has_preload(name):
        raise NotMeasured(f"{name}.so was not loaded: the shim is static or has no dynamic loader")


def need_handlers(case: Case, shim: ShimProcess[Any], within_s: float = 15) -> None:
    """Wait until the shim handles SIGTERM, which it does before it starts a program.

    The loop does not sleep, because the next step of the shim may take only a millisecond. SIGINT
    is not checked, because some runtimes handle it from their own start.
    """
    limit = Deadline(within_s)
    while shim.running and signal.SIGTERM not in shim.status().mask("SigCgt"):
        if limit.over() and case.attempt.number == 1:
            raise Late("the shim handles SIGTERM", f"within {within_s:.0f} s", "not yet")
        if limit.over():
            raise NotMeasured("the shim installs no handler")
