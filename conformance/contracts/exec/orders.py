"""Define the scenarios of forced orders, and the laws that each order must keep.

A law takes what the driver saw (`Ran`) and the answer. It never assumes when the implementation
looks at something: where two causes are so close that it may have found them at once, each of the
two is accepted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from signal import SIGCONT, SIGINT, SIGKILL, SIGTERM, Signals
from typing import Any

from boxspec.subject.orders.clock import MS
from boxspec.subject.orders.explore import Orders, Ran, Scenario, Violation
from boxspec.subject.orders.task import Note

GRACE_MS, TICK_MS, LINGER_MS = 5000, 100, 1000
PIPE_BYTES = 65536
# The pipe cannot hold this payload.
LONG_STDIN = {"stdin": {"bytes": "x" * 100_000}}

SCENARIOS = tuple(
    Scenario(name, script.split(), request, signals, escapes="setsid" in script)
    for name, script, request, signals in (
        ("exit", "child out:a err:b exit:3", {}, ()),
        ("exit-term", "child out:a exit:0", {}, ("TERM",)),
        ("exit-deadline", "child out:a exit:0", {"timeout_ms": 1000}, ()),
        ("deadline-term", "child wait", {"timeout_ms": 1000}, ("TERM",)),
        ("deadline-int", "child out:a wait", {"timeout_ms": 1000}, ("INT",)),
        ("int-term", "child wait", {}, ("INT", "TERM")),
        ("ignoring", "child ignore:TERM out:a wait", {"timeout_ms": 1000}, ()),
        ("last-words", "child on:TERM:err:bye out:a wait", {"timeout_ms": 1000}, ()),
        ("clean-end", "child on:TERM:exit:0 out:a wait", {"timeout_ms": 1000}, ("TERM",)),
        ("orphan", "child fork:orphan out:o wait end exit:4", {}, ()),
        ("orphan-term", "child fork:orphan ignore:TERM wait end exit:4", {}, ("TERM",)),
        ("orphan-quiet", "child fork:orphan close:1 close:2 wait end exit:0", {}, ()),
        (
            "orphan-grace",
            "child fork:orphan ignore:TERM out:o wait end wait",
            {"timeout_ms": 1000},
            (),
        ),
        (
            "orphan-forks",
            "child fork:orphan fork:second out:s wait end exit:0 end wait",
            {"timeout_ms": 1000},
            (),
        ),
        ("payload", "child read:6 out:a exit:0", {"stdin": {"bytes": "abcdef"}}, ()),
        ("payload-left", "child read:2 exit:0", {"stdin": {"bytes": "abcdef"}}, ()),
        (
            "payload-stuck",
            "child wait",
            {**LONG_STDIN, "timeout_ms": 1000},
            ("TERM",),
        ),
        (
            "payload-closed",
            "child close:0 out:a wait",
            {**LONG_STDIN, "timeout_ms": 1000},
            (),
        ),
        ("cap", "child out:abc out:def exit:0", {"max_output_bytes": 4}, ("TERM",)),
        (
            "cap-deadline",
            "child out:abc out:def wait",
            {"max_output_bytes": 4, "timeout_ms": 1000},
            (),
        ),
        ("escapes", "child fork:daemon setsid out:d wait end exit:0", {}, ("TERM",)),
        (
            "escapes-deadline",
            "child fork:daemon setsid wait end out:a exit:0",
            {"timeout_ms": 500},
            (),
        ),
        ("orphan-stopped", "child fork:orphan stop wait end exit:0", {}, ()),
        ("ignoring-two", "child ignore:INT ignore:TERM wait", {}, ("INT", "TERM")),
        (
            "payload-member",
            "child close:0 fork:orphan ignore:TERM wait end wait",
            {**LONG_STDIN, "timeout_ms": 1000},
            ("TERM",),
        ),
        (
            "cap-payload",
            "child out:abcdef wait",
            {**LONG_STDIN, "max_output_bytes": 4},
            ("TERM",),
        ),
        ("cap-signal", "child on:TERM:out:abcdef wait", {"max_output_bytes": 4}, ("TERM",)),
        ("stopped", "child stop out:a exit:0", {"timeout_ms": 1000}, ()),
        ("killed", "child die:KILL", {"timeout_ms": 1000}, ("TERM",)),
    )
)

# Events of the contract that no order of these scenarios contains.
NOT_FORCED = {
    "cancel": "the protocol has no request that cancels a run",
    "spawn failure": "the child is the puppet, which can always be executed",
    "a member that SIGKILL does not end": "needs a file system that does not answer",
    "a terminal as stdin": "job control of a terminal is not part of a world yet",
    "several runs at once": "exec.batch is not part of a scenario yet",
    "a change of threads between two system calls": "threads run one at a time",
}


@dataclass(frozen=True)
class Cause:
    """An event that may end the run, under the name that the result has for it."""

    name: str
    step: int
    at: int
    batch: int

    @classmethod
    def of(cls, name: str, note: Note) -> Cause:
        return cls(name, note.step, note.at, note.batch)


class Judged:
    """The facts of one order in the words of the contract."""

    def __init__(self, scenario: Scenario, ran: Ran) -> None:
        self.scenario, self.ran = scenario, ran

    def of(self, *kinds: str) -> list[Note]:
        return [note for note in self.ran.notes if note.kind in kinds]

    def one(self, kind: str) -> Note | None:
        return next(iter(self.of(kind)), None)

    @cached_property
    def result(self) -> dict[str, Any] | None:
        return (self.ran.answer or {}).get("result")

    @cached_property
    def reported(self) -> str | None:
        """The cause that the answer names."""
        if self.ran.answer is None:
            return None
        if self.result is None:
            message = str(self.ran.answer.get("error", {}).get("message", ""))
            return "stdin" if "stdin" in message else f"error: {message}"
        if "termination" in self.result:
            name = str(self.result["termination"])
        elif self.result["stderr"].endswith("process timed out"):
            name = "timeout"
        elif "process interrupted by signal SIG" in self.result["stderr"][-60:]:
            name = "parent_signal"
        else:
            name = "cap" if self.result.get("truncated") else "exit"
        if name == "parent_signal":
            return f"parent_signal {(self.result['exit_code'] or 0) - 128}"
        return "exit" if name == "signal" else name

    @cached_property
    def leader_end(self) -> Note | None:
        return next((n for n in self.of("died") if n.facts["pid"] == self.ran.leader), None)

    @cached_property
    def sends(self) -> list[Note]:
        """The signals to the group or its leader that can end it."""
        targets = {self.ran.leader, -self.ran.leader} - {0}
        return [
            note
            for note in self.of("send")
            if note.facts["target"] in targets and note.facts["signal"] not in (0, SIGCONT)
        ]

    @cached_property
    def first_signal(self) -> Note | None:
        """The first signal that asks the group to end."""
        return next((n for n in self.sends if n.facts["signal"] in (SIGINT, SIGTERM)), None)

    @cached_property
    def causes(self) -> list[Cause]:
        found = [
            Cause.of(f"parent_signal {note.facts['signal']}", note)
            for note in self.of("signal")
            if note.facts["handled"]
        ]
        over = self._over()
        if over:
            found.append(Cause.of("cap", over))
        end = self.leader_end
        lacking = self._payload_refused()
        if lacking:
            found.append(Cause.of("stdin", lacking))
        # A rest that fits into the pipe has been written, so its child may end without reading it.
        if end and not over and not (lacking and lacking.step <= end.step):
            found.append(Cause.of("exit", end))
        deadline = self._deadline()
        if deadline:
            found.append(Cause.of("timeout", deadline))
        return sorted(found, key=lambda cause: (cause.step, cause.at))

    def _deadline(self) -> Note | None:
        """The first note after the deadline."""
        ms, spawn = self.scenario.deadline_ms, self.spawned
        if ms is None or spawn is None:
            return None
        # The implementation has read its clock shortly before the birth of the child.
        due = spawn.at + (ms - 1) * MS if ms else spawn.at
        return next((note for note in self.ran.notes if note.at >= due), None)

    @cached_property
    def spawned(self) -> Note | None:
        """The last birth before the program was executed."""
        starts = self.one("starts")
        if starts is None:
            return None
        return next(n for n in self.of("born") if n.facts["pid"] == starts.facts["pid"])

    def _over(self) -> Note | None:
        cap = self.scenario.request.get("max_output_bytes")
        written = 0
        for note, fd, text in self.writes():
            if fd == 1:
                written += len(text)
                if cap is not None and written > cap:
                    return note
        return None

    def _payload_refused(self) -> Note | None:
        stdin = self.scenario.request.get("stdin")
        if not isinstance(stdin, dict):
            return None
        left = len(stdin["bytes"])
        for note in self.ran.notes:
            if note.kind == "action":
                word, _, rest = note.facts["action"].partition(":")
                if word == "read":
                    left -= int(rest)
                elif word == "close" and rest == "0" and left > PIPE_BYTES:
                    return note
            elif note is self.leader_end and left > PIPE_BYTES:
                return note
        return None

    def writes(self) -> Iterator[tuple[Note, int, str]]:
        """Yield what members of the group wrote: note, descriptor, text."""
        handlers: dict[str, str] = {}
        for note in self.of("action", "delivered"):
            task = note.facts["task"]
            if note.kind == "action":
                action = note.facts["action"]
                if action.startswith("on:TERM:"):
                    handlers[task.name] = action[len("on:TERM:") :]
                if action == "setsid":
                    handlers[f"{task.name} left"] = ""
            elif note.facts["signal"] == SIGTERM:
                action = handlers.get(task.name, "")
            else:
                continue
            word, _, text = action.partition(":")
            if word in ("out", "err") and f"{task.name} left" not in handlers:
                yield note, 1 if word == "out" else 2, text


def judge(scenario: Scenario, ran: Ran) -> list[Violation]:
    """Return the laws that this order breaks."""
    judged = Judged(scenario, ran)
    laws = (
        *(_returns, _survivors, _cause, _signals, _grace, _bytes, _handlers, _collects, _prompt),
        *(_duration, _flags, _reaches),
    )
    return [violation for law in laws for violation in law(judged)]


def _returns(judged: Judged) -> Iterator[Violation]:
    ran = judged.ran
    if ran.hung:
        yield Violation("EXEC-WAIT-01", "the run returns", "an answer", ran.hung)
        return
    unhandled = [note for note in judged.of("signal") if not note.facts["handled"]]
    if ran.answer is None and not unhandled:
        status = ran.exit_status or 0
        how = (
            f"ended by signal {os.WTERMSIG(status)}"
            if os.WIFSIGNALED(status)
            else f"exited with {os.WEXITSTATUS(status)}"
        )
        law = (
            "a signal to the caller never ends the caller" if judged.of("signal") else "it answers"
        )
        name = "EXEC-SIGNAL-05" if judged.of("signal") else "EXEC-RESULT-04"
        yield Violation(name, law, "an answer", f"the shim {how} without one")


def _survivors(judged: Judged) -> Iterator[Violation]:
    ended = judged.one("ended")
    if ended and ended.facts["alive"]:
        yield Violation(
            "EXEC-KILL-13",
            "no member of the group survives the run",
            "no member runs when the run returns",
            f"still running: {', '.join(ended.facts['alive'])}",
        )


def _cause(judged: Judged) -> Iterator[Violation]:
    """The result is named by the first cause."""
    if judged.reported is None:
        return
    law = "the first cause names the result"
    first_send = judged.sends[0] if judged.sends else None
    allowed = []
    for cause in judged.causes:
        if first_send and cause.step > first_send.step:
            continue
        if any(_comes_first(judged, other, cause) for other in judged.causes):
            continue
        allowed.append(cause.name)
    if judged.reported not in allowed:
        happened = "; ".join(f"{c.name} at {c.at // MS} ms" for c in judged.causes) or "no cause"
        yield Violation(
            "EXEC-RESULT-07",
            law,
            " or ".join(dict.fromkeys(allowed)) or "no end",
            f"{judged.reported} (what happened, in this order: {happened})",
        )
    elif judged.result and judged.reported == "exit" and judged.leader_end:
        status = judged.leader_end.facts["status"]
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        if judged.result["exit_code"] != code:
            yield Violation(
                "EXEC-RESULT-01", "exit code", str(code), str(judged.result["exit_code"])
            )


def _comes_first(judged: Judged, first: Cause, second: Cause) -> bool:
    """True if the implementation must have found `first` before `second`.

    It went back to its wait after `first`, and a tick passed. Or it found both at once, and `first`
    is the earlier one in the order of the contract.
    """
    if first.batch == second.batch and _rank(first) and _rank(second):
        return _rank(first) < _rank(second)
    return second.at - first.at >= TICK_MS * MS and any(
        first.step <= wait.step < second.step for wait in judged.of("waits")
    )


def _rank(cause: Cause) -> int:
    """The order of EXEC-RESULT-08. The other causes have no place in it."""
    return {"parent_signal": 1, "exit": 2, "timeout": 3}.get(cause.name.partition(" ")[0], 0)


def _signals(judged: Judged) -> Iterator[Violation]:
    """Each signal has a cause, and goes to a process or the group of the run."""
    law = "signals go to the group of the run only"
    known = {note.facts["pid"] for note in judged.of("born")}
    collected: set[object] = set()
    for note in judged.of("send", "collects"):
        if note.kind == "collects":
            collected.add(note.facts["pid"])
            continue
        target, signo = note.facts["target"], note.facts["signal"]
        assert isinstance(target, int)
        if signo == 0:
            continue
        if target in (0, -1) or abs(target) not in known:
            yield Violation(
                "EXEC-KILL-11", law, "a process or the group of the run", f"kill({target}, {signo})"
            )
        elif abs(target) in collected and (target > 0 or not note.facts["alive"]):
            yield Violation(
                "EXEC-KILL-14",
                "no signal to a number that was given back",
                "no signal after the collection of the child",
                f"signal {signo} to a number without a process of the run",
            )
    for send in judged.sends[:1]:
        if not any(cause.step <= send.step for cause in judged.causes):
            yield Violation(
                "EXEC-TIMEOUT-02",
                "no signal without a cause",
                "a group without a cause is left alone",
                f"signal {send.facts['signal']} at {send.at // MS} ms",
            )


def _reaches(judged: Judged) -> Iterator[Violation]:
    """The first signal goes to the whole group before the next wait."""
    first = judged.first_signal
    if first is None:
        return
    wait = next((note.step for note in judged.of("waits") if note.step > first.step), first.step)
    sent = [n for n in judged.sends if first.step <= n.step <= wait]
    alive = first.facts["alive"]
    if len(alive) > 1 and all(n.facts["target"] == judged.ran.leader for n in sent):
        yield Violation(
            "EXEC-KILL-01",
            "the signal reaches the whole group",
            f"a signal to the group: {', '.join(alive)}",
            "a signal to its leader only",
        )


def _grace(judged: Judged) -> Iterator[Violation]:
    """Neither cut nor extended."""
    first = judged.first_signal
    if first is None or judged.reported in ("cap", "exit"):
        return
    for note in judged.sends:
        early = note.at - first.at < (GRACE_MS - 1) * MS
        if note.facts["signal"] == SIGKILL and early and note.facts["alive"]:
            yield Violation(
                "EXEC-KILL-02",
                "the grace period is not cut",
                f"no SIGKILL to a live member before {GRACE_MS} ms",
                f"SIGKILL after {(note.at - first.at) // MS} ms; "
                f"alive: {', '.join(note.facts['alive'])}",
            )
            break
    repeats = [n for n in judged.sends if n.facts["signal"] == first.facts["signal"]]
    if len(repeats) > 1 and all(n.facts["target"] == first.facts["target"] for n in repeats):
        yield Violation(
            "EXEC-KILL-10", "the first signal is sent once", "1 time", f"{len(repeats)} times"
        )
    for wait in judged.of("waits"):
        if wait.facts["alive"] and wait.at - first.at > (GRACE_MS + TICK_MS) * MS:
            yield Violation(
                "EXEC-KILL-02",
                "the grace period is not extended",
                f"SIGKILL after {GRACE_MS} ms",
                f"it waits {(wait.at - first.at) // MS} ms after the first signal; "
                f"alive: {', '.join(wait.facts['alive'])}",
            )
            break


def _bytes(judged: Judged) -> Iterator[Violation]:
    """No byte that a member wrote is lost."""
    if judged.result is None or judged.reported == "cap":
        return
    for fd, name in ((1, "stdout"), (2, "stderr")):
        wanted = "".join(text for _, at, text in judged.writes() if at == fd)
        wanted = wanted[: judged.scenario.request.get("max_output_bytes")]
        actual = judged.result[name]
        kept = actual.startswith(wanted) if fd == 2 else actual == wanted
        if judged.scenario.escapes and fd == 1:
            kept = all(letter in actual for letter in wanted)
        if not kept:
            yield Violation(
                "EXEC-DRAIN-02" if judged.reported == "exit" else "EXEC-DRAIN-07",
                "no byte is lost",
                f"{name} {wanted!r}",
                f"{name} {actual!r}",
            )


def _handlers(judged: Judged) -> Iterator[Violation]:
    begins, ends = judged.one("begins"), judged.one("answers") or judged.one("exits")
    if begins and ends and begins.facts["masks"] != ends.facts["masks"]:
        yield Violation(
            "EXEC-SIGNAL-09",
            "handlers are restored",
            f"caught and ignored as before: {begins.facts['masks']}",
            str(ends.facts["masks"]),
        )


def _collects(judged: Judged) -> Iterator[Violation]:
    if judged.of("collects again"):
        yield Violation(
            "EXEC-KILL-14",
            "nothing is collected twice",
            "one wait for a child that has ended",
            "a second wait for its number, which may be another child's by then",
        )
    dead = judged.leader_end
    names = [note.facts["pid"] for note in judged.of("collects")]
    if judged.result and dead and dead.facts["pid"] not in names:
        yield Violation("EXEC-LEAK-01", "the child is collected", "one wait", "a zombie is left")


def _prompt(judged: Judged) -> Iterator[Violation]:
    """The run returns when its group has gone."""
    end = judged.leader_end
    if judged.ran.hung or judged.result is None or end is None:
        return
    members = [note.step for note in judged.of("died") if _of_member(note)]
    last = max([end.step, *members])
    waited = sum(
        note.facts["ms"]
        for note in judged.of("time")
        if note.step >= last and note.facts["blocked"]
    )
    most = LINGER_MS if judged.scenario.escapes else TICK_MS
    if waited > most:
        yield Violation(
            "EXEC-DRAIN-08" if judged.scenario.escapes else "EXEC-KILL-04",
            "the run returns when its group has gone",
            f"at most {most} ms later",
            f"it still waited {waited} ms",
        )


def _duration(judged: Judged) -> Iterator[Violation]:
    """The duration covers all waits of the run, and no more than the run."""
    begins, ends, spawn = judged.one("begins"), judged.one("answers"), judged.spawned
    if not judged.result or not begins or not ends or not spawn:
        return
    waits = [note for note in judged.of("time") if note.facts["blocked"] and note.step < ends.step]
    until = max((note.at // MS for note in waits), default=0)
    least, most = until - spawn.at // MS - 1, (ends.at - begins.at) // MS
    actual = judged.result["duration_ms"]
    if not least <= actual <= most:
        yield Violation(
            "EXEC-RESULT-05" if actual > most else "EXEC-RESULT-10",
            "the duration is that of the run",
            f"{max(least, 0)} to {most} ms",
            f"{actual} ms",
        )


def _flags(judged: Judged) -> Iterator[Violation]:
    """`pending_signals` and `detached_writers`, if the implementation has them."""
    result, collects = judged.result, judged.one("collects")
    if not result or "pending_signals" not in result or not collects:
        return
    early = [
        Signals(note.facts["signal"]).name
        for note in judged.of("signal")
        if note.facts["handled"] and note.step < collects.step
    ]
    if judged.reported and judged.reported.startswith("parent_signal"):
        early = [name for name in early if name != result["signal"]]
    lacks = [name for name in early if name not in result["pending_signals"]]
    if lacks:
        yield Violation(
            "EXEC-SIGNAL-07",
            "signals that did not name the result are listed",
            f"pending_signals with {', '.join(lacks)}",
            str(result["pending_signals"]),
        )
    left = any(note.facts["action"] == "setsid" for note in judged.of("action"))
    if result["detached_writers"] != left:
        yield Violation(
            "EXEC-DRAIN-09",
            "detached writers are reported",
            f"detached_writers {left}",
            f"detached_writers {result['detached_writers']}",
        )


def _of_member(note: Note) -> bool:
    """True if the note is about a puppet that has not left the group."""
    task = note.facts["task"]
    return bool(task.kind == "puppet") and task.name != "daemon"


def message(scenario: Scenario, puppet: str, folder: Path) -> dict[str, Any]:
    """Return a run of the puppet."""
    fields = {"program": puppet, "args": list(scenario.script), **scenario.request}
    return {"op": "exec.run", "request": fields}


ORDERS = Orders(SCENARIOS, message, judge, NOT_FORCED)
