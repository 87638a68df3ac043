"""Laws of the contract process: they hold for every order of events that subject/orders forces."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from functools import cached_property
from signal import SIGKILL, SIGTERM, Signals
from typing import Any

from boxspec.subject.orders.clock import MS
from boxspec.subject.orders.explore import Ran, Scenario, Violation
from boxspec.subject.orders.task import Note
from contracts.shared.order_facts import TICK_MS, Facts
from contracts.shared.order_laws import (
    Requirements,
    continues,
    grace_is_not_cut,
    grace_is_not_extended,
    prompt,
    shared,
)

SHARED = Requirements(
    survivors="PROCESS-DROP-01",
    own_group="PROCESS-KILL-02",
    given_back="PROCESS-KILL-04",
    handlers="PROCESS-LEAK-01",
    collected="PROCESS-LEAK-01",
)
# For each kind of step, the field whose value follows the colon.
FIELDS = {"wait": "timeout_ms", "close": "grace_ms", "write": "data", "read": "until"}
ENDS = ("exited", "signaled")


def steps_of(scenario: Scenario) -> list[dict[str, Any]]:
    """Parse the words of a scenario into steps."""
    return [_step(word) for word in str(scenario.request["steps"]).split()]


def _step(word: str) -> dict[str, Any]:
    word, _, value = word.partition(":")
    if word == "join":
        return {"step": "join", "thread": value}
    thread, dot, name = word.rpartition(".")
    handle, slash, name = name.rpartition("/")
    made: dict[str, Any] = {"step": "read_until" if name == "read" else name}
    made["handle"] = handle if slash else "a"
    if name == "read_eof" or name == "read":
        made["stream"] = "stdout"
    if dot:
        made["thread"] = thread
    if value:
        made[FIELDS[name]] = int(value) if name in ("wait", "close") else value
    return made


class Judged(Facts):
    """The facts of one script, in the words of the contract."""

    @cached_property
    def steps(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Return the steps, each with its result."""
        results = self.result["steps"] if self.result else []
        return list(zip(steps_of(self.scenario), results, strict=False))

    def results(self, *names: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        return [pair for pair in self.steps if pair[0]["step"] in names]

    @cached_property
    def words(self) -> set[str]:
        """Return the kinds of steps in the script."""
        return {step["step"] for step in steps_of(self.scenario)}

    @cached_property
    def one_thread(self) -> bool:
        return not any("thread" in step for step in steps_of(self.scenario))

    @cached_property
    def leaders(self) -> list[int]:
        return self.ran.leaders

    @cached_property
    def ends(self) -> list[str]:
        """Return how the leaders ended, in the order of their starts."""
        return [_end_text(end) for pid in self.leaders if (end := self.end_of(pid))]


def _end_text(end: Note) -> str:
    status = end.facts["status"]
    if os.WIFEXITED(status):
        return f"exited {os.WEXITSTATUS(status)}"
    return f"signaled {Signals(os.WTERMSIG(status)).name}"


def _reported_end(result: dict[str, Any]) -> str:
    return next((f"{name} {result[name]}" for name in ENDS if name in result), "running")


def judge(scenario: Scenario, ran: Ran) -> list[Violation]:
    """Return the laws that this order breaks."""
    judged = Judged(scenario, ran)
    laws = (
        _returns,
        _errors,
        _ends,
        _limits,
        _causes,
        _grace,
        _reaches,
        _bytes,
        _prompt,
        _continues,
        _escapes,
    )
    found = [violation for law in laws for violation in law(judged)]
    return [*found, *shared(judged, SHARED)]


def _returns(judged: Judged) -> Iterator[Violation]:
    ran = judged.ran
    if ran.hung:
        yield Violation("PROCESS-WAIT-01", "each step returns", "an answer", ran.hung)
    elif ran.answer is None:
        status = ran.exit_status or 0
        yield Violation(
            "PROCESS-WAIT-01",
            "it answers",
            "an answer",
            f"the shim ended with wait status {status:#x} without one",
        )


def _errors(judged: Judged) -> Iterator[Violation]:
    """Check that no step of these scripts fails, except a write without a reader."""
    if judged.result is None and judged.ran.answer is not None:
        yield Violation("PROCESS-OPEN-01", "the script is taken", "results", str(judged.ran.answer))
    for step, result in judged.steps:
        # A step in another thread may come after the drop of its handle. Then it may fail.
        if "error" in result and not ("drop" in judged.words and "thread" in step):
            name = "PROCESS-KILL-03" if step["step"] in ("kill", "terminate") else "PROCESS-WAIT-01"
            yield Violation(name, "no step fails", f"{step['step']} succeeds", str(result["error"]))


def _ends(judged: Judged) -> Iterator[Violation]:
    """Check that each reported end is the real end of the child, and that later reports are equal
    to it."""
    first: dict[tuple[str, int], str] = {}
    opened: dict[str, int] = {}
    pids = iter(judged.leaders)
    for step, result in judged.steps:
        handle, name = step.get("handle", ""), step["step"]
        if name == "open":
            opened[handle] = next(pids, 0)
        if name not in ("wait", "poll", "close") or "error" in result:
            continue
        told, pid = _reported_end(result), opened.get(handle, 0)
        end = judged.end_of(pid)
        limited = name == "poll" or (name == "wait" and "timeout_ms" in step)
        if told == "running":
            before = first.get((handle, pid))
            if not limited or (before and judged.one_thread):
                yield Violation(
                    "PROCESS-WAIT-02" if before else "PROCESS-WAIT-01",
                    "an end is reported, and stays",
                    before or "how the child ended",
                    f"{name}: running",
                )
        elif end is None or told != _end_text(end):
            yield Violation(
                "PROCESS-WAIT-01",
                "the reported end is that of the child",
                _end_text(end) if end else "the child runs",
                f"{name}: {told}",
            )
        else:
            first.setdefault((handle, pid), told)


def _limits(judged: Judged) -> Iterator[Violation]:
    """Check that a wait that reports its limit has taken at least that long."""
    start, end = judged.one("starts"), judged.one("answers")
    if not judged.one_thread or start is None or end is None:
        return
    least = sum(
        step.get("timeout_ms", 0) for step, result in judged.results("wait") if "running" in result
    )
    took = (end.at - start.at) // MS + 1
    if took < least:
        yield Violation("PROCESS-WAIT-03", "no limit is cut", f"at least {least} ms", f"{took} ms")


def _causes(judged: Judged) -> Iterator[Violation]:
    """Check that each signal was sent by a step, or follows the end of the child."""
    for pid in judged.leaders:
        end = judged.end_of(pid)
        ended = end.step if end else sum(1 for _ in judged.ran.notes)
        for send in judged.sends_to(pid):
            signo = send.facts["signal"]
            if send.step > ended:
                continue
            if signo == SIGKILL:
                wanted = {"kill", "close", "drop"}
                allowed = bool(wanted & judged.words) or _at_the_end(judged, send)
            else:
                allowed = signo == SIGTERM and bool({"terminate", "close"} & judged.words)
            if not allowed:
                yield Violation(
                    "PROCESS-WAIT-03",
                    "no signal without a cause",
                    "a child gets no signal without a cause",
                    f"signal {signo} at {send.at // MS} ms",
                )
                return


def _at_the_end(judged: Judged, send: Note) -> bool:
    """True if the signal may be from the drop at the end of the script."""
    limits = sum(step.get("timeout_ms", 0) for step in steps_of(judged.scenario))
    start = judged.one("starts")
    return start is not None and send.at - start.at >= (limits - 1) * MS


def _grace(judged: Judged) -> Iterator[Violation]:
    """Check that the grace period of a close is neither shortened nor extended."""
    graces = [step["grace_ms"] for step in steps_of(judged.scenario) if step["step"] == "close"]
    other = {"kill", "terminate", "drop"} & judged.words
    if not graces or other or len(judged.leaders) > 1 or not judged.leaders:
        return
    sends = judged.sends_to(judged.leaders[0])
    first = next((note for note in sends if note.facts["signal"] == SIGTERM), None)
    if first is None:
        return
    waits = any(step["step"] == "wait" for step in steps_of(judged.scenario))
    if not (waits and judged.end_of(judged.leaders[0])):
        later = [note for note in sends if note.step > first.step]
        yield from grace_is_not_cut(first, later, min(graces), "PROCESS-CLOSE-01")
    yield from grace_is_not_extended(judged, first, max(graces), "PROCESS-CLOSE-01")


def _reaches(judged: Judged) -> Iterator[Violation]:
    """Check that each signal of a step reaches the whole group."""
    for pid in judged.leaders:
        for send in judged.sends_to(pid):
            others = [name for name in send.facts["alive"] if name in ("orphan", "second")]
            if send.facts["target"] == pid and others:
                near = [n for n in judged.sends_to(pid) if n.batch == send.batch]
                if all(n.facts["target"] == pid for n in near):
                    yield Violation(
                        "PROCESS-KILL-02",
                        "the signal reaches the whole group",
                        f"a signal to the group: {', '.join(send.facts['alive'])}",
                        "a signal to its leader only",
                    )
                    return


def _bytes(judged: Judged) -> Iterator[Violation]:
    """Check that the bytes read equal the bytes written, and that an end of file comes after all
    bytes."""
    reads = judged.results("read_until", "read_eof")
    if not reads or any("error" in result for _, result in reads):
        return
    actual = b"".join(base64.b64decode(result.get("data_b64", "")) for _, result in reads).decode()
    wanted = "".join(text for _, fd, text in judged.writes(by_all=True) if fd == 1)
    whole = reads[-1][0]["step"] == "read_eof"
    if (whole and actual != wanted) or not wanted.startswith(actual):
        yield Violation(
            "PROCESS-EOF-02", "no byte is lost", f"stdout {wanted!r}", f"stdout {actual!r}"
        )


def _prompt(judged: Judged) -> Iterator[Violation]:
    yield from prompt(judged, TICK_MS, "PROCESS-WAIT-01")


def _continues(judged: Judged) -> Iterator[Violation]:
    if "terminate" not in judged.words:
        yield from continues(judged, "PROCESS-CLOSE-04")


def _escapes(judged: Judged) -> Iterator[Violation]:
    """Check that a process that left the group survives, and that `close` reports that it holds the
    pipes."""
    left = any(note.facts["action"] == "setsid" for note in judged.of("action"))
    ended = judged.one("exits")
    dead = next((n for n in judged.of("died") if n.facts["task"].name == "daemon"), None)
    if left and dead and ended and dead.step < ended.step:
        yield Violation(
            "PROCESS-GROUP-02", "a process that left lives on", "daemon runs", _end_text(dead)
        )
    for _, result in judged.results("close"):
        if "error" not in result and result.get("detached_writers") != left:
            yield Violation(
                "PROCESS-CLOSE-02",
                "detached writers are reported",
                f"detached_writers {left}",
                f"detached_writers {result.get('detached_writers')}",
            )
