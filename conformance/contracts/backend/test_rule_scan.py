"""What a run changed against rules that are not enforced: the scan behind it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import pytest

from boxspec.api import Box, expect, requires
from contracts.backend.attempt import WORK
from contracts.backend.ground import made_ground
from contracts.backend.ruled import line_inside, policy

SCAN = "backend.scan"


@dataclass(frozen=True)
class Change:
    """line: what is run. denied: what the rules deny of what it touches; `kept.key` and `file` are
    there from the start, with seven bytes each."""

    line: str
    rules: dict[str, Any]
    denied: tuple[str, ...]


KEY = policy(("**/*.key",))
CHANGES = {
    "a name that is made late": Change("echo x >late; : >more", policy(("late",)), ("late",)),
    "a name of a pattern": Change("mkdir d; echo x >d/a.key; echo x >d/a.txt", KEY, ("d/a.key",)),
    "a directory and all below": Change(
        "mkdir -p late/er; : >late/er/file; : >later",
        policy(("late/**",)),
        ("late", "late/er", "late/er/file"),
    ),
    "a rule of the profile": Change("echo x >late", policy(modify=("**", "!late")), ("late",)),
    "a link": Change("ln -s file a.key", KEY, ("a.key",)),
    "more of a file": Change("echo x >>kept.key; echo x >>file", KEY, ("kept.key",)),
    "other bytes at the same time": Change(
        "echo CANARY >kept.key; touch -r file kept.key", KEY, ("kept.key",)
    ),
    "another file of its name": Change(
        "cp -p kept.key new; mv -f new kept.key", KEY, ("kept.key",)
    ),
    "a file that is gone": Change("rm -f kept.key more", KEY, ("kept.key",)),
}


def facts(path: str) -> tuple[int, ...] | None:
    """What is seen of it from outside, the time of its last change too; None: it is not there."""
    try:
        st = os.lstat(path)
    except FileNotFoundError:
        return None
    return (st.st_ino, st.st_mode, st.st_size, st.st_ctime_ns)


@requires("BACKEND-RULE-10", capability=SCAN, needs=[WORK, "BACKEND-RULE-03"])
@pytest.mark.parametrize("what", CHANGES)
def test_what_was_changed_against_a_rule_is_found(box: Box, what: str) -> None:
    """Where a backend holds the rule nothing is changed, and nothing found."""
    change = CHANGES[what]
    with made_ground() as ground:
        (ground.ws / "kept.key").write_text("canary\n")
        paths = [os.fsencode(ground.ws / name) for name in change.denied]
        before = [facts(os.fsdecode(path)) for path in paths]
        session = line_inside(box, ground, f"{change.line}; :", change.rules)
        after = [facts(os.fsdecode(path)) for path in paths]
        changed = [path for path, was, is_ in zip(paths, before, after, strict=True) if was != is_]
        told = {_plain(str(each["rule"])) for each in session.result["not_enforced"]}
        found = session.violations
        evidence = {"not_enforced": sorted(told), "changed": changed}
        expect("the paths that were changed", [path for path, _ in found], changed, evidence)
        strange = [rule for _, rule in found if _plain(rule) not in told]
        expect("rules of them that are not named as not enforced", strange, [], evidence)


def _plain(rule: str) -> str:
    """A rule may be told as the profile has it."""
    return rule.removeprefix("!")


@requires("BACKEND-RULE-10", capability=SCAN, needs=[WORK])
def test_a_run_that_changes_what_it_may_has_nothing_against_it(box: Box) -> None:
    with made_ground() as ground:
        (ground.ws / "kept.key").write_text("canary\n")
        session = line_inside(box, ground, "echo x >>file; cat kept.key; mkdir d", KEY)
        expect("what the scan found", session.violations, [])
