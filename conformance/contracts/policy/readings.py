"""Find the requirements that define the parts of a glob, and those of them that a shim breaks.

If a shim misreads one part of a glob, a test of a combination with this part shows nothing new.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from boxspec.errors import ShimBroke
from boxspec.judge.requirements import load
from boxspec.judge.verdict import Blocked
from contracts.policy.judging import COST
from contracts.policy.kinds import answered, conforms
from contracts.policy.vectors import Group, Vector, every

if TYPE_CHECKING:
    from contracts.policy.client import PolicyCase

ANCHORED = "POLICY-GLOB-02"
RUN = "POLICY-GLOB-09"
# Requirements about combinations of parts, each of which another requirement defines.
COMBINED = (RUN, "POLICY-GLOB-11")
PARTS = frozenset(f"POLICY-GLOB-{number:02}" for number in (*range(1, 11), 12))
SPECIAL_ELSEWHERE = frozenset("[]{}()+!@$^|#")


def read_by(pattern: str, path: str = "") -> set[str]:
    """Return the requirements on which the meaning of a glob for a path depends.

    The glob is in normal form.
    """
    found = {ANCHORED}
    if SPECIAL_ELSEWHERE & {*pattern}:
        found.add("POLICY-GLOB-01")
    if "***" in pattern:
        found.add(RUN)
    if path == ".":
        found.add("POLICY-GLOB-10")
    segments = re.sub(r"\*{3,}", "**", pattern).split("/")
    for at, segment in enumerate(segments):
        found |= _of_segment(segment, first=at == 0, last=at == len(segments) - 1)
    return found


def _of_segment(segment: str, first: bool, last: bool) -> set[str]:
    if segment == "**":
        if not last:
            return {"POLICY-GLOB-06"}
        return set() if first else {"POLICY-GLOB-07"}
    found = {"POLICY-GLOB-05"} if "?" in segment else set()
    if "**" in segment:
        found.add("POLICY-GLOB-08")
    if "*" in segment.replace("**", ""):
        found.add("POLICY-GLOB-04" if segment == "*" else "POLICY-GLOB-03")
    return found


_broken: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()


def broken(case: PolicyCase) -> set[str]:
    """Return the requirements that have a failing vector.

    The vectors are sent only once in a session.
    """
    if (known := _broken.get(case.session)) is not None:
        return known
    found: set[str] = set()
    asked = case.asked
    for vector in _vectors_of_parts():
        name = vector.requirements[0]
        # Three or more stars mean the same as two. So if the requirements for two stars are broken,
        # they explain a failure with three.
        if name == RUN and (_parts_of(vector) - {RUN}) & found:
            continue
        if not case.session.outcomes.of(vector.id, partial(answered, case, vector)):
            found.add(name)
    case.asked = asked
    _broken[case.session] = found
    return found


def _vectors_of_parts() -> list[Vector]:
    """Return the vectors of the parts.

    Vectors about three or more stars depend on the others, so they come last.
    """
    found = [
        vector
        for vector in every().values()
        if vector.kind == "glob" and vector.requirements[0] in PARTS
    ]
    return sorted(found, key=lambda vector: vector.requirements[0] == RUN)


def anchored(case: PolicyCase) -> None:
    """Raise Blocked if the shim does not anchor globs: this may be the cause of any wrong
    answer."""
    if ANCHORED in broken(case):
        raise Blocked([ANCHORED], "globs that are not anchored may cause any wrong answer")


def readable(case: PolicyCase, pattern: str, path: str = "") -> bool:
    """True if the shim conforms to the requirements about each part of this glob."""
    amiss = broken(case)
    return not (amiss and read_by(pattern, path) & amiss)


def askable(case: PolicyCase, group: Group) -> Group:
    """Return the group without vectors that depend on another requirement which the shim breaks."""
    about = group.requirements[0]
    if about not in COMBINED:
        return group
    amiss = broken(case) - {about}
    by = {vector: _parts_of(vector) & amiss for vector in group.vectors}
    kept = tuple(vector for vector, parts in by.items() if not parts)
    if not kept:
        why = "each vector depends on one of these too"
        raise Blocked(sorted(set().union(*by.values())), why)
    return replace(group, vectors=kept)


def _parts_of(vector: Vector) -> set[str]:
    return read_by(vector.word("pattern").decode(), vector.fields.get("path", ""))


def answers_of_cost(case: PolicyCase) -> None:
    """Fail if a glob of the topic COST gets a wrong answer. A hang is not reported here, but by
    COST itself."""
    anchored(case)
    for vector in every().values():
        if vector.kind != "glob" or load()[vector.requirements[0]].topic != COST:
            continue
        if readable(case, vector.word("pattern").decode()):
            try:
                conforms(case, vector)
            except ShimBroke:
                return
