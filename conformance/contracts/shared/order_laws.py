"""Laws that several contracts share: they hold for every order of events that is forced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from signal import SIGCONT, SIGKILL

from boxspec.subject.orders.clock import MS
from boxspec.subject.orders.explore import Violation
from boxspec.subject.orders.task import Note
from contracts.shared.order_facts import TICK_MS, Facts


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


def has_a_grace(facts: Facts, requirement: str) -> Iterator[Violation]:
    """Check that SIGKILL is not the first signal to a group with a live member."""
    kill = next((send for send in facts.sends if send.facts["alive"]), None)
    if facts.first_signal is None and kill is not None:
        yield Violation(
            requirement,
            "the group has a grace period",
            "SIGINT or SIGTERM before SIGKILL",
            f"SIGKILL only; alive: {', '.join(kill.facts['alive'])}",
        )


def reaches_each(facts: Facts, requirement: str) -> Iterator[Violation]:
    """Check that the first signal reaches each member before the implementation waits again."""
    first = facts.first_signal
    if first is None:
        return
    wait = next((note.step for note in facts.of("waits") if note.step > first.step), first.step)
    sent = [note for note in facts.sent(int(first.facts["signal"])) if note.step <= wait]
    targets = {note.facts["target"] for note in sent}
    lacks = [name for name in first.facts["alive"] if targets.isdisjoint(facts.numbers(name))]
    if lacks and -facts.ran.leader not in targets:
        yield Violation(
            requirement,
            "the signal reaches the whole group",
            f"a signal to {', '.join(first.facts['alive'])}",
            f"no signal to {', '.join(lacks)}",
        )


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
    """Check that no member is alive a tick after the end of the grace period: neither when the
    implementation waits again, nor when it sends SIGKILL.
    """
    kills = [send for send in facts.sends if send.facts["signal"] == SIGKILL]
    for note in sorted((*facts.of("waits"), *kills), key=lambda each: each.step):
        # If the caller was delayed, the implementation may have read its clock only after the
        # delay.
        late_ms = sum(
            each.facts["ms"]
            for each in facts.of("time")
            if first.step < each.step < note.step and not each.facts["blocked"]
        )
        most = (grace_ms + TICK_MS + late_ms) * MS
        if note.facts["alive"] and note.at - first.at > most:
            does = "SIGKILL comes" if note in kills else "it waits"
            yield Violation(
                requirement,
                "the grace period is not extended",
                f"SIGKILL after {grace_ms} ms, at most {TICK_MS} ms later",
                f"{does} {(note.at - first.at) // MS} ms after the first signal; "
                f"alive: {', '.join(note.facts['alive'])}",
            )
            return


def _repeats(facts: Facts, signo: int) -> int:
    """Return how often a signal was sent to one member, the greatest number of all members.

    Signals to the group and signals to the process itself both count.
    """
    sent = facts.sent(signo)
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
            "the implementation returns when its group has ended",
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
    process is reaped."""
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
                "no signal to a process number after its process was reaped",
                "no signal after the child was reaped",
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
            "no child is reaped twice",
            "one wait for a child that has ended",
            "a second wait for its number, which may be another child's by then",
        )
    collected = {note.facts["pid"] for note in facts.of("collects")}
    ends = facts.one("answers") or facts.one("exits")
    dead = {pid for pid in facts.ran.leaders if facts.end_of(pid)}
    # A child that has never executed the program must be reaped too, for example after a failed
    # spawn.
    dead |= {
        note.facts["pid"]
        for note in facts.of("died")
        if ends and note.step < ends.step and note.facts["task"].kind == "spawn"
    }
    if facts.ran.answer and dead - collected:
        yield Violation(ids.collected, "the child is reaped", "one wait", "a zombie is left")


def of_member(note: Note) -> bool:
    """True if the note is about a puppet that has not left the group."""
    task = note.facts["task"]
    return bool(task.kind == "puppet") and task.name != "daemon"
