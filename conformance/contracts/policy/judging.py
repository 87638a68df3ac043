"""Compare the answers of the shim with vectors. All failures of a group are reported together."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from boxspec.errors import ShimBroke
from boxspec.judge.expect import expect, shown
from boxspec.judge.requirements import load
from boxspec.judge.verdict import Blocked, Failure, NotApplicable, Verdict, worst
from boxspec.subject.client import known
from contracts.policy.kinds import conforms
from contracts.policy.vectors import Group, Vector, every

if TYPE_CHECKING:
    from contracts.policy.client import PolicyCase

# After this many crashes or hangs in a group, its remaining vectors are skipped.
PATIENCE = 2


def judge(case: PolicyCase, group: Group) -> None:
    """Send all vectors of a group. If the shim crashes, only the current vector fails."""
    askable = [each for each in group.vectors if each.capabilities <= case.capabilities]
    if not askable:
        missing = {name for each in group.vectors for name in each.capabilities - case.capabilities}
        raise NotApplicable.without(*sorted(missing))
    blocked = each_is_right(case, askable, ask)
    if blocked:
        by = sorted({name for why in blocked.values() for name in why.by})
        raise Blocked(by, f"the allowed counterparts of {' '.join(blocked)} do not conform")


def each_is_right(
    case: PolicyCase, askable: list[Vector], ask: Callable[[PolicyCase, Vector], None]
) -> dict[str, Blocked]:
    """Send all vectors. Return the vectors that other requirements block.

    Raise one Failure for all wrong vectors.
    """
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
            failure = Failure(
                "an answer that follows the protocol", "an answer", why.what, why.evidence
            )
            wrong.append((vector, failure, case.asked))
            broken += 1
            if broken == PATIENCE:
                break
    if wrong:
        raise _together(case, askable, wrong)
    return blocked


def _together(
    case: PolicyCase, askable: list[Vector], wrong: list[tuple[Vector, Failure, Any]]
) -> Failure:
    """Return one failure, with the first wrong vector in full, and one line for each other
    vector."""
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


# The vectors of this topic measure the time. Their wrong answers are ignored here, because the
# topics of globs and checks judge the answers of the same vectors.
COST = "POLICY-COST"


def ask(case: PolicyCase, vector: Vector) -> None:
    """Judge one vector. A refusal or a denial counts only if the allowed counterpart conforms.

    If the counterpart fails and belongs to another requirement, this requirement blocks the vector.
    """
    if load()[vector.requirements[0]].topic == COST:
        with contextlib.suppress(Failure):
            conforms(case, vector)
        return
    conforms(case, vector)
    if vector.counterpart is None:
        return
    counterpart = every()[vector.counterpart]
    if case.session.outcomes.of(counterpart.id, partial(_accepted, case, counterpart)):
        return
    if not {*counterpart.requirements} & {*vector.requirements}:
        why = f"{counterpart.id}, its allowed counterpart, does not conform"
        raise Blocked(counterpart.requirements, why)
    raise Failure(
        "the allowed counterpart of the refusal",
        f"{counterpart.id} conforms",
        f"{counterpart.id} does not conform",
        verdict=Verdict.UNPROVEN,
    )


def _accepted(case: PolicyCase, counterpart: Vector) -> bool:
    """True if the counterpart of a vector conforms.

    A shim without checks can still load the file, which shows that it accepts the file. If there is
    no answer, ask once more, because the machine may have been too busy for the time limit.
    """
    asked = case.asked

    def ask() -> None:
        if counterpart.capabilities <= case.capabilities:
            conforms(case, counterpart)
        else:
            expect("whether the file loads", case.policy.load(counterpart.policy_or_file).ok, True)

    try:
        try:
            ask()
        except ShimBroke:
            ask()
    except (Failure, ShimBroke):
        return False
    finally:
        case.asked = asked
    return True


def both_ways(case: PolicyCase, vector: Vector) -> None:
    """Fail if the answers of `run` and `serve` to a vector differ, even if both are wrong."""
    with contextlib.suppress(Failure, ShimBroke):
        conforms(case, vector)
    assert case.asked is not None
    same_both_ways(case, case.asked, vector.why)


def same_both_ways(case: PolicyCase, message: dict[str, Any], why: str = "") -> None:
    try:
        served = _comparable(message["op"], case.policy.put(message).raw)
    except ShimBroke:
        # If there is no answer, the tests that need the answer report this.
        return
    ran = _comparable(message["op"], case.send(message).raw)
    if served != ran:
        raise Failure(
            "serve and run give the same answer",
            shown(served),
            shown(ran),
            {"why asked": why} if why else {},
            Verdict.CONTRADICTION,
        )


def _comparable(op: str, answer: Any) -> Any:
    """Return an answer without the parts that differ from request to request.

    These are the id, the time of an event, and fields that the contract does not define.
    """
    kept = {key: value for key, value in known.answer(op, answer or {}).items() if key != "id"}
    for event in kept.get("result", {}).get("events", ()):
        event.pop("time", None)
    return kept
