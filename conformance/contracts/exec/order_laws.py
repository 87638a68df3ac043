"""Laws of the contract exec, which hold for every order of events that subject/orders forces.

A law takes the observations of the driver (`Ran`) and the answer. The implementation may check for
an event at any time. If the implementation may have found two causes at once, a law
accepts either of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from signal import SIGINT, SIGKILL, Signals

from boxspec.subject.orders.clock import MS
from boxspec.subject.orders.explore import Ran, Scenario, Violation
from contracts.exec.order_batch import parts
from contracts.exec.order_facts import Judged
from contracts.shared.order_facts import TICK_MS, happened, may_be_first, text_of
from contracts.shared.order_laws import (
    Requirements,
    continues,
    grace,
    has_a_grace,
    prompt,
    reaches_each,
    shared,
)

GRACE_MS, LINGER_MS = 5000, 1000

SHARED = Requirements(
    survivors="EXEC-KILL-13",
    own_group="EXEC-KILL-11",
    given_back="EXEC-KILL-14",
    handlers="EXEC-SIGNAL-09",
    collected="EXEC-LEAK-01",
)


def judge(scenario: Scenario, ran: Ran) -> list[Violation]:
    """Return the laws that this order breaks."""
    if "batch" in scenario.request:
        return _judge_batch(scenario, ran)
    judged = Judged(scenario, ran)
    laws = (
        *(_returns, _cause, _fields, _causeless, _deadline, _grace, _bytes, _prompt, _duration),
        *(_flags, _killed_writers, _leaves_alone, _kills_at_once, _starts_nothing, _truncated),
    )
    more = (*continues(judged, "EXEC-KILL-07"), *shared(judged, SHARED))
    found = [violation for law in laws for violation in law(judged)]
    return [*found, *more]


def _judge_batch(scenario: Scenario, ran: Ran) -> list[Violation]:
    whole = Judged(scenario, ran)
    found = [*_returns(whole), *shared(whole, SHARED)]
    for single, part in parts(scenario, ran) if ran.answer else ():
        found += [each for each in judge(single, part) if each not in found]
    # This law is left out: until a child of another run executes its program, the child has the
    # pipes of this run too.
    return [each for each in found if each.requirement != "EXEC-DRAIN-09"]


def _returns(judged: Judged) -> Iterator[Violation]:
    ran = judged.ran
    if ran.hung:
        yield Violation("EXEC-WAIT-01", "the run returns", "an answer", ran.hung)
        return
    signals = judged.of("signal")
    status = ran.exit_status or 0
    how = (
        f"ended by signal {os.WTERMSIG(status)}"
        if os.WIFSIGNALED(status)
        else f"exited with {os.WEXITSTATUS(status)}"
    )
    if ran.answer is not None:
        return
    ended = judged.one("ended")
    if ended and ended.facts["alive"] and signals:
        yield Violation(
            "EXEC-SIGNAL-08",
            "a signal to the caller leaves no child",
            "no member of the group runs",
            f"the shim {how}; still running: {', '.join(ended.facts['alive'])}",
        )
    elif len(signals) == 1 and (signals[0].facts["alive"] or signals[0].facts["handled"]):
        signo = signals[0].facts["signal"]
        yield Violation(
            "EXEC-SIGNAL-02" if signo == SIGINT else "EXEC-SIGNAL-01",
            "a signal to the caller ends the run with a result",
            "an answer",
            f"the shim {how} without one",
        )
    elif all(note.facts["handled"] for note in signals):
        law = "a signal to the caller never ends the caller" if signals else "it answers"
        name = "EXEC-SIGNAL-05" if signals else "EXEC-RESULT-04"
        yield Violation(name, law, "an answer", f"the shim {how} without one")


def _cause(judged: Judged) -> Iterator[Violation]:
    """Check that the answer names the first cause, if it has the member `termination`."""
    if judged.reported is None or judged.scenario.fails:
        return
    law = "the first cause names the result"
    causes = judged.causes
    allowed = [cause.name for cause in causes if may_be_first(judged, cause, causes)]
    names = judged.result is None or "termination" in judged.result
    if names and judged.reported not in allowed:
        yield Violation(
            "EXEC-RESULT-07",
            law,
            " or ".join(dict.fromkeys(allowed)) or "no end",
            f"{judged.reported} ({happened(causes)})",
        )
    elif judged.result and judged.reported == "exit" and judged.leader_end:
        status = judged.leader_end.facts["status"]
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        if judged.result["exit_code"] != code:
            yield Violation(
                "EXEC-RESULT-01", "exit code", str(code), str(judged.result["exit_code"])
            )


def _starts_nothing(judged: Judged) -> Iterator[Violation]:
    """Check that a failed spawn is reported as a spawn failure. Only a signal to the caller may be
    reported in its place."""
    signals = [each.name for each in judged.parent_signals()]
    if judged.scenario.fails and judged.reported not in (None, "spawn", *signals):
        yield Violation(
            "EXEC-SPAWN-01",
            "a program that cannot be started is a spawn failure",
            " or ".join(["failed to spawn", *signals]),
            str(judged.reported),
        )


def _fields(judged: Judged) -> Iterator[Violation]:
    """Check that the fields of a result agree with its cause."""
    if judged.result is None or judged.reported in (None, "exit"):
        return
    name, _, signo = str(judged.reported).partition(" ")
    wanted = {"success": False, "exit_code": 128 + int(signo) if signo else None}
    actual = {field: judged.result[field] for field in wanted}
    if actual != wanted:
        requirement = {"parent_signal": "EXEC-SIGNAL-03", "cap": "EXEC-CAP-01"}.get(
            name, "EXEC-TIMEOUT-06"
        )
        yield Violation(requirement, "the fields agree with the cause", str(wanted), str(actual))


def _deadline(judged: Judged) -> Iterator[Violation]:
    """Check that the first signal of a timeout follows the deadline within a tick."""
    due, first, spawn = judged.deadline(), judged.first_signal, judged.spawned
    if judged.reported != "timeout" or due is None or first is None or spawn is None:
        return
    waits = [note for note in judged.of("waits") if spawn.step < note.step < first.step]
    # The caller may be delayed between reading its clock and waiting. The wait is then too long by
    # this delay.
    late = max((note.facts["late"] for note in waits), default=0) // MS
    at = spawn.at // MS + (judged.scenario.deadline_ms or 0)
    passed = [note for note in judged.of("time") if spawn.step < note.step < first.step]
    waited = sum(
        min(note.facts["ms"], max(0, note.at // MS - at))
        for note in passed
        if note.facts["blocked"]
    )
    if waited > TICK_MS + late:
        yield Violation(
            "EXEC-TIMEOUT-03",
            "the deadline is noticed within a tick",
            f"SIGTERM at most {TICK_MS} ms after the deadline",
            f"it still waited {waited} ms",
        )


def _kills_at_once(judged: Judged) -> Iterator[Violation]:
    """Check that after an exit, or after output beyond the cap, the rest of the group is killed at
    once."""
    cause = next((each for each in judged.causes if each.name == judged.reported), None)
    kill = next((note for note in judged.sends if note.facts["signal"] == SIGKILL), None)
    if judged.reported not in ("exit", "cap") or not cause or not kill or not kill.facts["alive"]:
        return
    passed = [note for note in judged.of("time") if cause.step < note.step < kill.step]
    waited = sum(note.facts["ms"] for note in passed if note.facts["blocked"])
    if waited > TICK_MS:
        yield Violation(
            "EXEC-ORPHAN-01" if judged.reported == "exit" else "EXEC-CAP-01",
            "the rest of the group is killed at once",
            f"SIGKILL at most {TICK_MS} ms after the {judged.reported}",
            f"it still waited {waited} ms; alive: {', '.join(kill.facts['alive'])}",
        )


def _causeless(judged: Judged) -> Iterator[Violation]:
    for send in judged.sends[:1]:
        if not any(cause.step <= send.step for cause in judged.causes):
            yield Violation(
                "EXEC-TIMEOUT-02",
                "no signal without a cause",
                "a group gets no signal without a cause",
                f"signal {send.facts['signal']} at {send.at // MS} ms",
            )


def _grace(judged: Judged) -> Iterator[Violation]:
    if judged.reported not in ("cap", "exit"):
        yield from has_a_grace(judged, "EXEC-KILL-02")
        yield from reaches_each(judged, "EXEC-KILL-01")
        yield from grace(judged, GRACE_MS, "EXEC-KILL-02", "EXEC-KILL-10")


def _bytes(judged: Judged) -> Iterator[Violation]:
    """Check that the result contains each byte that a member wrote."""
    if judged.result is None or judged.reported == "cap":
        return
    for fd, name in ((1, "stdout"), (2, "stderr")):
        wanted = "".join(text for _, at, text in judged.writes() if at == fd)
        wanted = wanted[: judged.scenario.request.get("max_output_bytes")]
        actual = text_of(judged.result, name)
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


def _truncated(judged: Judged) -> Iterator[Violation]:
    """Check `truncated` of a run that a signal ended: true if a member wrote beyond the cap."""
    cap = judged.scenario.request.get("max_output_bytes")
    if cap is None or judged.reported in (None, "exit", "cap"):
        return
    if judged.result is None or "truncated" not in judged.result:
        return
    sizes = {fd: sum(len(text) for _, at, text in judged.writes() if at == fd) for fd in (1, 2)}
    beyond = max(sizes.values()) > cap
    if judged.result["truncated"] != beyond:
        yield Violation(
            "EXEC-CAP-04",
            "output beyond the cap is reported after a signal too",
            f"truncated {beyond}",
            f"truncated {judged.result['truncated']}",
        )


def _prompt(judged: Judged) -> Iterator[Violation]:
    if judged.scenario.escapes:
        yield from prompt(judged, LINGER_MS, "EXEC-DRAIN-08")
    else:
        yield from prompt(judged, TICK_MS, "EXEC-KILL-04")


def _duration(judged: Judged) -> Iterator[Violation]:
    """Check duration_ms: at least the time from the spawn to the last wait, at most the time of the
    call."""
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
    """Check `pending_signals` and `detached_writers`, if the implementation has these fields."""
    result = judged.result
    # An implementation may collect other children before, for example a process that it starts to
    # test SA_NOCLDWAIT.
    leader = [note for note in judged.of("collects") if note.facts["pid"] == judged.ran.leader]
    if not result or "pending_signals" not in result or not leader:
        return
    early = [
        Signals(note.facts["signal"]).name
        for note in judged.of("signal")
        if note.facts["handled"] and note.step < leader[0].step
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
    left = any(
        note.facts["action"] == "setsid" and judged.holds_pipes(note.facts["name"])
        for note in judged.of("action")
    )
    if result["detached_writers"] != left:
        yield Violation(
            "EXEC-DRAIN-09",
            "detached writers are reported",
            f"detached_writers {left}",
            f"detached_writers {result['detached_writers']}",
        )


def _killed_writers(judged: Judged) -> Iterator[Violation]:
    """Check `killed_writers`: true if the end of the child prevented later output of a member.

    If the last writer closes its pipes or ends between the end of the child and the signal, both
    values are right: no implementation sees which of the two was first.
    """
    result, end = judged.result, judged.leader_end
    kill = next((n for n in judged.sends if end and n.step > end.step), None)
    if not result or "killed_writers" not in result or judged.reported != "exit" or not kill:
        return
    writers = [name for name in kill.facts["alive"] if judged.holds_pipes(name, kill.step)]
    acted = any(end and end.step < note.step < kill.step for note in judged.of("action"))
    if judged.scenario.escapes or (acted and not writers):
        return
    if result["killed_writers"] != bool(writers):
        yield Violation(
            "EXEC-ORPHAN-07",
            "killed writers are reported",
            f"killed_writers {bool(writers)} ({', '.join(writers) or 'no member is left'})",
            f"killed_writers {result['killed_writers']}",
        )


def _leaves_alone(judged: Judged) -> Iterator[Violation]:
    """Check that a process that left the group lives on."""
    left = any(note.facts["action"] == "setsid" for note in judged.of("action"))
    ended = judged.one("exits")
    dead = next((n for n in judged.of("died") if n.facts["task"].name == "daemon"), None)
    if left and dead and ended and dead.step < ended.step:
        yield Violation("EXEC-ORPHAN-04", "a process that left lives on", "daemon runs", "it ended")
