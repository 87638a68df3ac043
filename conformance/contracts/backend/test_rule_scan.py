"""The scan after a run. It finds changes that a rule denies but the backend does not prevent."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from boxspec.api import Verdict, expect, requires
from contracts.backend.attempt import WORK
from contracts.backend.client import BackendCase
from contracts.backend.ground import Ground, made_ground
from contracts.backend.ruled import line_inside, policy
from contracts.shared.requests import ExecRequest

SCAN = "backend.scan"
KEY = "**/*.key"
MISSING = "/nonexistent/program"


@dataclass(frozen=True)
class Change:
    """A shell script, and the rules that deny its changes.

    denied: each rule with the paths that it denies. `kept.key` and `file` exist from the start,
        with seven bytes each and the same times.
    """

    line: str
    rules: dict[str, Any]
    denied: dict[str, tuple[str, ...]]


CHANGES = {
    "a name that is made late": Change(
        "echo x >late; : >more", policy(("late",)), {"late": ("late",)}
    ),
    "a name of a pattern": Change(
        "mkdir d; echo x >d/a.key; echo x >d/a.txt", policy((KEY,)), {KEY: ("d/a.key",)}
    ),
    "a directory and all below": Change(
        "mkdir -p late/er; : >late/er/file; : >later",
        policy(("late/**",)),
        {"late/**": ("late", "late/er", "late/er/file")},
    ),
    "names of two rules": Change(
        "echo x >late; echo x >a.key; : >more",
        policy(("late", KEY)),
        {"late": ("late",), KEY: ("a.key",)},
    ),
    "a rule of the profile": Change(
        "echo x >late", policy(modify=("**", "!late")), {"late": ("late",)}
    ),
    "a link": Change("ln -s file a.key", policy((KEY,)), {KEY: ("a.key",)}),
    "more of a file": Change(
        "echo x >>kept.key; echo x >>file", policy((KEY,)), {KEY: ("kept.key",)}
    ),
    "other bytes at the same time": Change(
        "echo CANARY >kept.key; touch -r file kept.key", policy((KEY,)), {KEY: ("kept.key",)}
    ),
    "another file of its name": Change(
        "cp -p kept.key new; mv -f new kept.key", policy((KEY,)), {KEY: ("kept.key",)}
    ),
    "another mode": Change("chmod 755 kept.key file", policy((KEY,)), {KEY: ("kept.key",)}),
    "a file that is gone": Change("rm -f kept.key more", policy((KEY,)), {KEY: ("kept.key",)}),
}


def planted(ground: Ground) -> None:
    kept, file = ground.ws / "kept.key", ground.ws / "file"
    kept.write_text("canary\n")
    there = file.stat()
    os.utime(kept, ns=(there.st_atime_ns, there.st_mtime_ns))


def facts(path: Path) -> tuple[int, ...] | None:
    """Return facts about a path that an observer outside can see, or None if it does not exist."""
    try:
        st = path.lstat()
    except FileNotFoundError:
        return None
    return (st.st_ino, st.st_mode, st.st_size, st.st_ctime_ns)


@requires("BACKEND-RULE-10", capability=SCAN, needs=[WORK, "BACKEND-RULE-03"])
@pytest.mark.parametrize("what", CHANGES)
def test_the_scan_finds_a_change_that_a_rule_denies(case: BackendCase, what: str) -> None:
    """Change a denied path.

    If the backend enforces the rule, no denied path changes, and the scan finds no change.
    Otherwise the scan must find the change.
    """
    change = CHANGES[what]
    with made_ground() as ground:
        planted(ground)
        denied = {ground.ws / name: rule for rule, names in change.denied.items() for name in names}
        before = {path: facts(path) for path in denied}
        session = line_inside(case, ground, change.line, change.rules)
        changed = [
            (os.fsencode(path), rule)
            for path, rule in sorted(denied.items())
            if facts(path) != before[path]
        ]
        # A rule of the profile may be reported with its `!`.
        found = [(path, rule.removeprefix("!")) for path, rule in session.violations]
        evidence = {"not_enforced": session.result["not_enforced"]}
        what_is_told = "`violations` of the result: what was changed, each with its rule"
        expect(what_is_told, found, changed, evidence)


# Calls of one session, of which one creates a denied file.
CALLS = {
    "the first": ("echo x >late", "echo x >more"),
    "the last": ("echo x >more", "echo x >late"),
    "the first, and the last fails": ("echo x >late", "exit 3"),
    "the first, and the last cannot start": ("echo x >late", None),
    "one whose file a later call changes": ("echo x >late", "echo more >>late"),
}


def shell(line: str) -> ExecRequest:
    return {"program": "/bin/sh", "args": ["-c", line]}


@requires("BACKEND-RULE-10", capability=SCAN, needs=[WORK, "BACKEND-RULE-03"])
@pytest.mark.parametrize("which", CALLS)
def test_the_scan_covers_all_calls_of_a_session(case: BackendCase, which: str) -> None:
    with made_ground() as ground:
        session = case.backend.run(
            [shell(line) if line else {"program": MISSING} for line in CALLS[which]],
            root=ground.ws,
            profile="repo-write",
            policy=policy(("late",)),
            on_unavailable="degrade",
            shim_env={"HOME": str(ground.home)},
        )
        late = ground.ws / "late"
        changed = [(os.fsencode(late), "late")] if late.exists() else []
        expect("`violations` of the result", session.violations, changed)


MANY = 300


@requires("BACKEND-RULE-10", capability=SCAN, needs=[WORK, "BACKEND-RULE-03"])
def test_the_scan_finds_each_of_many_changes(case: BackendCase) -> None:
    with made_ground() as ground:
        (ground.ws / "late").mkdir()
        line = f"for n in $(seq {MANY}); do echo x >late/$n; done"
        session = line_inside(case, ground, line, policy(("late/*",)))
        made = sorted(os.fsencode(path) for path in (ground.ws / "late").iterdir())
        found = sorted(session.violations)
        expect("`violations` of the result", found, [(path, "late/*") for path in made])


@requires("BACKEND-RULE-10", capability=SCAN, needs=[WORK])
def test_the_scan_reports_no_allowed_change(case: BackendCase) -> None:
    with made_ground() as ground:
        planted(ground)
        session = line_inside(case, ground, "echo x >>file; cat kept.key; : >made", policy((KEY,)))
        ran = (b"canary\n" in session.only.stdout, (ground.ws / "made").exists())
        expect("whether the script ran", ran, (True, True), verdict=Verdict.OVERREFUSED)
        expect("`violations` of the result", session.violations, [])
