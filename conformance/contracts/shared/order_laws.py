"""State the facts of a forced order, and the laws that several contracts share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from signal import SIGCONT, SIGINT, SIGKILL, SIGTERM
from typing import Any

from boxspec.subject.client.b64 import unb64
from boxspec.subject.orders.clock import MS
from boxspec.subject.orders.explore import Ran, Scenario, Violation
from boxspec.subject.orders.task import Note

TICK_MS = 100
# SIGINT first, and SIGTERM some steps later. Even if an implementation finds both pending, it sees
# SIGINT first, because the kernel reports the lower number first.
IN_ORDER = (f"parent_signal {int(SIGINT)}", f"parent_signal {int(SIGTERM)}")


def text_of(result: Mapping[str, Any], name: str) -> str:
    """Return an output of a result as a text. The result may contain it as bytes."""
    if name in result:
        return str(result[name])
    return unb64(str(result[f"{name}_b64"])).decode(errors="replace")


@dataclass(frozen=True)
class Cause:
    """An event that may end the run. It has the name that a result gives it."""

    name: str
    step: int
    at: int
    batch: int

    @classmethod
    def of(cls, name: str, note: Note) -> Cause:
        return cls(name, note.step, note.at, note.batch)


class Facts:
    """The facts of one order."""

    def __init__(self, scenario: Scenario, ran: Ran) -> None:
        self.scenario, self.ran = scenario, ran

    def of(self, *kinds: str) -> list[Note]:
        return [note for note in self.ran.notes if note.kind in kinds]

    def one(self, kind: str) -> Note | None:
        return next(iter(self.of(kind)), None)

    @cached_property
    def result(self) -> dict[str, Any] | None:
        return (self.ran.answer or {}).get("result")

    def end_of(self, pid: int) -> Note | None:
        """Return the note of the end of a process. The process may not have been collected yet."""
        return next((n for n in self.of("died") if n.facts["pid"] == pid), None)

    def sends_to(self, leader: int) -> list[Note]:
        """Return the signals to a group or its leader, without those that cannot end it."""
        return [
            note
            for note in self.of("send")
            if abs(note.facts["target"]) == leader != 0 and note.facts["signal"] not in (0, SIGCONT)
        ]

    @cached_property
    def leader_end(self) -> Note | None:
        return self.end_of(self.ran.leader)

    @cached_property
    def sends(self) -> list[Note]:
        return self.sends_to(self.ran.leader)

    @cached_property
    def first_signal(self) -> Note | None:
        """Return the first signal that asks the group to end."""
        return next((n for n in self.sends if n.facts["signal"] in (SIGINT, SIGTERM)), None)

    def parent_signals(self) -> list[Cause]:
        """Return the signals to the caller for which it had a handler."""
        return [
            Cause.of(f"parent_signal {note.facts['signal']}", note)
            for note in self.of("signal")
            if note.facts["handled"]
        ]

    def deadline(self) -> Note | None:
        """Return the first note after the deadline."""
        ms, spawn = self.scenario.deadline_ms, self.spawned
        if ms is None or spawn is None:
            return None
        # The implementation reads its clock shortly before it starts the child, so the deadline may
        # be up to a millisecond earlier.
        due = spawn.at + (ms - 1) * MS if ms else spawn.at
        return next((note for note in self.ran.notes if note.at >= due), None)

    @cached_property
    def spawned(self) -> Note | None:
        """Return the note of the birth of the process that executed the program, or None."""
        starts = self.one("starts")
        if starts is None:
            return None
        return next(n for n in self.of("born") if n.facts["pid"] == starts.facts["pid"])

    def writes(self, *, by_all: bool = False) -> Iterator[tuple[Note, int, str]]:
        """Yield the texts that members of the group wrote: note, descriptor, text.

        by_all: True to include processes that have left the group.
        """
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
            if word in ("out", "err") and (by_all or f"{task.name} left" not in handlers):
                yield note, 1 if word == "out" else 2, text


def comes_first(facts: Facts, first: Cause, second: Cause) -> bool:
    """True if the implementation must have found `first` before `second`.

    That is certain if it waited again after `first`, and a tick passed. If it found both at once,
    the order of causes in the contract decides.
    """
    if first.batch == second.batch and _rank(first) and _rank(second):
        return _rank(first) < _rank(second)
    if (first.name, second.name) == IN_ORDER and first.batch < second.batch:
        return True
    return second.at - first.at >= TICK_MS * MS and any(
        first.step <= wait.step < second.step for wait in facts.of("waits")
    )


def may_be_first(facts: Facts, cause: Cause, causes: Sequence[Cause]) -> bool:
    """True if an implementation may take this cause for the first of these causes."""
    if facts.sends and cause.step > facts.sends[0].step:
        return False
    return not any(comes_first(facts, other, cause) for other in causes)


def happened(causes: Sequence[Cause]) -> str:
    texts = [f"{each.name} at {each.at // MS} ms" for each in causes]
    return f"happened, in this order: {'; '.join(texts) or 'no cause'}"


def _rank(cause: Cause) -> int:
    """Return the rank of the cause in EXEC-RESULT-08; 0 for other causes."""
    return {"parent_signal": 1, "exit": 2, "timeout": 3}.get(cause.name.partition(" ")[0], 0)


def grace(facts: Facts, grace_ms: int, ended: str, once: str) -> Iterator[Violation]:
    """Check that the grace period has the right length, and that the first signal is sent only
    once.

    ended: the requirement for the length.
    once: the requirement for the first signal.
    """
    first = facts.first_signal
    if first is None:
        return
    yield from grace_is_not_cut(first, facts.sends, grace_ms, ended)
    repeats = _repeats(facts, int(first.facts["signal"]))
    if repeats > 1:
        yield Violation(once, "the first signal is sent once", "1 time", f"{repeats} times")
    yield from grace_is_not_extended(facts, first, grace_ms, ended)


def grace_is_not_cut(
    first: Note, sends: Sequence[Note], grace_ms: int, requirement: str
) -> Iterator[Violation]:
    """Check that none of the sent signals is a SIGKILL in the grace period after `first`."""
    for note in sends:
        early = note.at - first.at < (grace_ms - 1) * MS
        if note.facts["signal"] == SIGKILL and early and note.facts["alive"]:
            yield Violation(
                requirement,
                "the grace period is not shortened",
                f"no SIGKILL to a live member before {grace_ms} ms",
                f"SIGKILL after {(note.at - first.at) // MS} ms; "
                f"alive: {', '.join(note.facts['alive'])}",
            )
            return


def grace_is_not_extended(
    facts: Facts, first: Note, grace_ms: int, requirement: str
) -> Iterator[Violation]:
    """Check that no member is alive a tick after the end of the grace period."""
    for wait in facts.of("waits"):
        # If the caller was delayed, the implementation may have read its clock only after the
        # delay.
        late_ms = sum(
            note.facts["ms"]
            for note in facts.of("time")
            if first.step < note.step < wait.step and not note.facts["blocked"]
        )
        most = (grace_ms + TICK_MS + late_ms) * MS
        if wait.facts["alive"] and wait.at - first.at > most:
            yield Violation(
                requirement,
                "the grace period is not extended",
                f"SIGKILL after {grace_ms} ms",
                f"it waits {(wait.at - first.at) // MS} ms after the first signal; "
                f"alive: {', '.join(wait.facts['alive'])}",
            )
            return


def _repeats(facts: Facts, signo: int) -> int:
    """Return how often a signal was sent to one member, the greatest number of all members.

    Signals to the group and signals to the process itself both count.
    """
    sent = [note for note in facts.of("send") if note.facts["signal"] == signo]
    group = [note for note in sent if abs(note.facts["target"]) == facts.ran.leader]
    born = {note.facts["pid"] for note in facts.of("born") if note.facts["kind"] == "puppet"}
    others = Counter(note.facts["target"] for note in sent if note.facts["target"] in born)
    return max(len(group), *(len(group) + count for count in others.values()), 0)


def continues(facts: Facts, requirement: str) -> Iterator[Violation]:
    """Check that SIGCONT follows the first signal to a group with a stopped member."""
    first = facts.first_signal
    stops = [n for n in facts.of("action") if n.facts["action"] == "stop" and of_member(n)]
    if first is None or not first.facts["alive"] or not any(n.step < first.step for n in stops):
        return
    until = next((note.step for note in facts.of("waits") if note.step > first.step), None)
    sent = [
        note
        for note in facts.of("send")
        if note.step > first.step
        and (until is None or note.step < until)
        and note.facts["signal"] == SIGCONT
        and note.facts["target"] == -facts.ran.leader
    ]
    if not sent:
        yield Violation(
            requirement,
            "SIGCONT follows the first signal",
            "SIGCONT to the group, which has a stopped member",
            "no SIGCONT before the next wait",
        )


def prompt(facts: Facts, most_ms: int, requirement: str) -> Iterator[Violation]:
    """Check that the implementation does not wait for a group that has ended."""
    ends = [facts.end_of(pid) for pid in facts.ran.leaders]
    answers = facts.one("answers")
    if facts.ran.hung or facts.result is None or answers is None or not ends or not all(ends):
        return
    last = max(note.step for note in facts.of("died") if of_member(note))
    waited = sum(
        note.facts["ms"]
        for note in facts.of("time")
        if last <= note.step < answers.step and note.facts["blocked"]
    )
    if waited > most_ms:
        yield Violation(
            requirement,
            "the implementation returns when its group has gone",
            f"at most {most_ms} ms later",
            f"it still waited {waited} ms",
        )


@dataclass(frozen=True)
class Requirements:
    """The requirements of a contract that state the shared laws."""

    survivors: str
    own_group: str
    given_back: str
    handlers: str
    collected: str


def shared(facts: Facts, ids: Requirements) -> Iterator[Violation]:
    yield from _survivors(facts, ids)
    yield from _signals(facts, ids)
    yield from _handlers(facts, ids)
    yield from _collects(facts, ids)


def _survivors(facts: Facts, ids: Requirements) -> Iterator[Violation]:
    ended = facts.one("ended")
    if ended and ended.facts["alive"]:
        yield Violation(
            ids.survivors,
            "no member of the group survives",
            "no member runs when the implementation has ended",
            f"still running: {', '.join(ended.facts['alive'])}",
        )


def _signals(facts: Facts, ids: Requirements) -> Iterator[Violation]:
    """Check that each signal goes to a process or to the group of the run, and only before the
    process is collected."""
    known = {note.facts["pid"] for note in facts.of("born")}
    collected: set[object] = set()
    for note in facts.of("send", "collects"):
        if note.kind == "collects":
            collected.add(note.facts["pid"])
            continue
        target, signo = note.facts["target"], note.facts["signal"]
        if signo == 0:
            continue
        if target in (0, -1) or abs(target) not in known:
            yield Violation(
                ids.own_group,
                "signals go to the group of the run only",
                "a process or the group of the run",
                f"kill({target}, {signo})",
            )
        elif abs(target) in collected and (target > 0 or not note.facts["alive"]):
            yield Violation(
                ids.given_back,
                "no signal to a number that was given back",
                "no signal after the collection of the child",
                f"signal {signo} to a number without a process of the run",
            )


def _handlers(facts: Facts, ids: Requirements) -> Iterator[Violation]:
    begins, ends = facts.one("begins"), facts.one("answers") or facts.one("exits")
    if begins and ends and begins.facts["masks"] != ends.facts["masks"]:
        yield Violation(
            ids.handlers,
            "handlers are restored",
            f"caught and ignored as before: {begins.facts['masks']}",
            str(ends.facts["masks"]),
        )


def _collects(facts: Facts, ids: Requirements) -> Iterator[Violation]:
    if facts.of("collects again"):
        yield Violation(
            ids.given_back,
            "nothing is collected twice",
            "one wait for a child that has ended",
            "a second wait for its number, which may be another child's by then",
        )
    collected = {note.facts["pid"] for note in facts.of("collects")}
    ends = facts.one("answers") or facts.one("exits")
    dead = {pid for pid in facts.ran.leaders if facts.end_of(pid)}
    # A child that has never executed the program must be collected too, for example after a failed
    # spawn.
    dead |= {
        note.facts["pid"]
        for note in facts.of("died")
        if ends and note.step < ends.step and note.facts["task"].kind == "spawn"
    }
    if facts.ran.answer and dead - collected:
        yield Violation(ids.collected, "the child is collected", "one wait", "a zombie is left")


def of_member(note: Note) -> bool:
    """True if the note is about a puppet that has not left the group."""
    task = note.facts["task"]
    return bool(task.kind == "puppet") and task.name != "daemon"
