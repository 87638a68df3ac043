"""What a vector says against what the shim answers; a group tells all that went wrong in it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from boxspec.errors import ShimBroke
from boxspec.judge.expect import shown
from boxspec.judge.requirements import load
from boxspec.judge.verdict import Blocked, Failure, NotApplicable, Verdict, worst
from boxspec.subject.client import known
from contracts.policy.kinds import conforms
from contracts.policy.vectors import Group, Vector, every

if TYPE_CHECKING:
    from boxspec.subject.case import Case

# After so many crashes or hangs of one group its other vectors are not asked any more.
PATIENCE = 2


def judge(case: Case, group: Group) -> None:
    """Ask all vectors of a group; what breaks the shim blames only the vector in flight."""
    askable = [each for each in group.vectors if each.capabilities <= case.capabilities]
    if not askable:
        missing = {name for each in group.vectors for name in each.capabilities - case.capabilities}
        raise NotApplicable.without(*sorted(missing))
    blocked = each_is_right(case, askable, ask)
    if blocked:
        by = sorted({name for why in blocked.values() for name in why.by})
        raise Blocked(by, f"the twins of {' '.join(blocked)} do not conform")


def each_is_right(
    case: Case, askable: list[Vector], ask: Callable[[Case, Vector], None]
) -> dict[str, Blocked]:
    """Those that other requirements block; what is wrong with the rest is one failure."""
    case.questions = len(askable)
    wrong: list[tuple[Vector, Failure, Any]] = []
    blocked: dict[str, Blocked] = {}
    broken = 0
    for vector in askable:
        try:
            ask(case, vector)
        except Failure as why:
            wrong.append((vector, why, case.asked))
        except Blocked as why:
            blocked[vector.id] = why
        except ShimBroke as why:
            failure = Failure("an answer of the protocol", "one", why.what, why.evidence)
            wrong.append((vector, failure, case.asked))
            broken += 1
            if broken == PATIENCE:
                break
    if wrong:
        raise _together(case, askable, wrong)
    return blocked


def _together(
    case: Case, askable: list[Vector], wrong: list[tuple[Vector, Failure, Any]]
) -> Failure:
    """One failure: the first in full, of the others a line."""
    first, why, case.asked = wrong[0]
    evidence: dict[str, Any] = {
        "why asked": first.why,
        **why.evidence,
        "vectors": f"{len(wrong)} of {len(askable)} fail: "
        + " ".join(vector.id for vector, _, _ in wrong),
    }
    if wrong[1:]:
        evidence["others"] = [
            f"{vector.id} ({failure.verdict}) {failure.what}: expected {failure.expected},"
            f" got {failure.got}; {vector.why}"
            for vector, failure, _ in wrong[1:8]
        ]
    verdict = worst(failure.verdict for _, failure, _ in wrong)
    ids = [vector.id for vector, _, _ in wrong]
    return Failure(
        f"{first.id}: {why.what}",
        why.expected,
        why.got,
        evidence,
        verdict,
        why="every vector" if len(ids) == len(askable) else " ".join(ids),
        cases=(len(ids), len(askable)),
    )


# What is answered there is the matter of the topics of globs and checks, which ask it again.
COST = "POLICY-COST"


def ask(case: Case, vector: Vector) -> None:
    """One vector; a refusal or denial counts only when its allowed twin conforms: where the twin
    is the matter of another requirement, that one blocks it."""
    if load()[vector.requirements[0]].topic == COST:
        with contextlib.suppress(Failure):
            conforms(case, vector)
        return
    conforms(case, vector)
    if vector.twin is None:
        return
    twin = every()[vector.twin]
    known = case.session.outcomes
    if twin.id not in known:
        asked = case.asked
        try:
            if twin.capabilities <= case.capabilities:
                conforms(case, twin)
            else:
                # A parser alone shows that it takes the file.
                known[twin.id] = case.policy.load(twin.policy_or_file).ok
        except (Failure, ShimBroke):
            known[twin.id] = False
        case.asked = asked
    if not known[twin.id] and not {*twin.requirements} & {*vector.requirements}:
        raise Blocked(twin.requirements, f"{twin.id}, its allowed twin, does not conform")
    if not known[twin.id]:
        raise Failure(
            "the refusal is proved by its allowed twin",
            f"{twin.id} conforms",
            "it does not",
            verdict=Verdict.UNPROVEN,
        )


def both_ways(case: Case, vector: Vector) -> None:
    """What serve answers to a vector, right or wrong, run answers too."""
    with contextlib.suppress(Failure, ShimBroke):
        conforms(case, vector)
    assert case.asked is not None
    same_both_ways(case, case.asked, vector.why)


def same_both_ways(case: Case, message: dict[str, Any], why: str = "") -> None:
    try:
        served = _told(message["op"], case.policy.put(message).raw)
    except ShimBroke:
        # Whoever asks for that answer says so.
        return
    ran = _told(message["op"], case.send(message).raw)
    if served != ran:
        raise Failure(
            "serve and run give the same answer",
            shown(served),
            shown(ran),
            {"why asked": why} if why else {},
            Verdict.CONTRADICTION,
        )


def _told(op: str, answer: Any) -> Any:
    """An answer without what differs from request to request: the id, the time of an event, and
    what only the shim knows."""
    told = {key: value for key, value in known.answer(op, answer or {}).items() if key != "id"}
    for event in told.get("result", {}).get("events", ()):
        event.pop("time", None)
    return told
