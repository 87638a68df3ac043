"""Policies inside: a rule together with a directory, another rule, a link or another profile."""

import os
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from boxspec.api import HostLacks, Verdict, expect, requires
from contracts.backend.answers import ObservedSession
from contracts.backend.attempt import WORK
from contracts.backend.client import BackendCase
from contracts.backend.ground import made_ground
from contracts.backend.ruled import (
    expect_held_or_named,
    expect_made,
    expect_unchanged,
    expect_unread,
    line_inside,
    makes_nothing,
    named_in_a_profile,
    planted,
    policy,
)
from contracts.shared.documents import one_profile
from contracts.shared.documents import policy as document

RULES = "backend.policy"
NEEDS = [WORK, "BACKEND-CONTEXT-01"]
EVERYTHING = {"read": ["**"], "modify": ["**"]}
BUT_ONE = {"read": ["**"], "modify": ["**", "!kept"]}
TWO = {**document({"fsProfiles": {"first": EVERYTHING, "p": BUT_ONE}}), "fs_profile": "p"}


def _need_effect(name: str, watched: str, line: str) -> None:
    """Raise HostLacks if the script has no effect on this host without a sandbox."""
    with made_ground() as ground:
        planted(ground, name)
        ground.watch(ground.ws / watched)
        subprocess.run(["/bin/sh", "-c", line], cwd=ground.ws, check=False, capture_output=True)
        if not ground.changes():
            raise HostLacks(
                "working escape attempts", f"`{line}` changes nothing here even without a sandbox"
            )


def _stays(
    case: BackendCase,
    name: str,
    line: str,
    rules: dict[str, Any],
    *,
    watched: str | None = None,
    profile: str = "repo-write",
    neighbour: str = "neighbour",
) -> None:
    """Fail unless an existing path stays unchanged and a file next to it is created."""
    watched = watched or name
    _need_effect(name, watched, line)
    with made_ground() as ground:
        planted(ground, name)
        ground.watch(ground.ws / watched)
        whole = f"{line}; : >{neighbour}"
        session = line_inside(case, ground, whole, rules, profile=profile)
        expect_unchanged(session, name, ground.changes())
        expect_made(ground.ws / neighbour)


@requires("BACKEND-RULE-01", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("line", ["echo x >kept/new", "rm -f kept/file"])
def test_a_denied_directory_keeps_its_entries(case: BackendCase, line: str) -> None:
    _stays(case, "kept/file", line, policy(("kept", "kept/**")), watched="kept")


@requires("BACKEND-RULE-01", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("profile", ["no-network", "full-dev", "ci-only"])
def test_a_denied_file_stays_under_each_profile(case: BackendCase, profile: str) -> None:
    _stays(case, "kept", "echo x >>kept", policy(("kept",)), profile=profile)


# Policies, each with the directory in which another file may be created.
MEETINGS = {
    "a grant above it": (policy(("src/kept",), modify=("src/**",)), "src"),
    "a rule of the profile alone": (policy(modify=("**", "!src/kept")), "src"),
    "a policy of the workspace": (
        {**policy(("src/kept",)), "workspace": one_profile(deny_modify=("other",))},
        "src",
    ),
}


@requires("BACKEND-RULE-01", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("what", MEETINGS)
def test_a_denied_file_stays_together_with_another_rule(case: BackendCase, what: str) -> None:
    rules, allowed = MEETINGS[what]
    _stays(case, "src/kept", "echo x >>src/kept", rules, neighbour=f"{allowed}/neighbour")


@requires("BACKEND-RULE-01", capability=RULES, needs=NEEDS)
def test_the_profile_that_is_named_is_the_one_that_denies(case: BackendCase) -> None:
    _stays(case, "kept", "echo x >>kept", TWO)


@requires("BACKEND-RULE-01", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("name", ["two words", "-a:b,c=d"])
def test_a_denied_file_may_have_any_name(case: BackendCase, name: str) -> None:
    _stays(case, name, f'echo x >>"{name}"', policy((name,)))


@requires("BACKEND-RULE-01", capability=RULES, needs=NEEDS)
def test_a_denied_path_stays_below_the_cache(case: BackendCase) -> None:
    """Deny a path of a workspace that lies in the cache.

    full-dev permits writes to the cache. The rule must still hold.
    """
    with made_ground() as ground:
        root = ground.home / ".cache" / "project"
        kept = planted(ground, "kept", root)
        ground.watch(kept)
        line = "echo x >>kept; : >neighbour"
        session = line_inside(case, ground, line, policy(("kept",)), root=root, profile="full-dev")
        expect_unchanged(session, "kept", ground.changes())
        expect_made(root / "neighbour")


# Modes of a directory that forbid to read or search it. Root ignores modes, so the tests drop the
# capability for that.
CLOSED = [0o300, 0o400, 0o000]
OPENS = "chmod 700 kept"
# A rule that names the file, and a pattern that an implementation may look for in the directory.
NAMING = ["kept/file", "**/f?le"]


Judge = Callable[[ObservedSession, list[str], bool], None]


def _behind_a_closed_directory(
    case: BackendCase, mode: int, line: str, rules: dict[str, Any], judge: Judge
) -> None:
    """Run a script on `kept/file` in a directory whose mode closes it to its owner.

    `judge` gets the session, the changes of the file, and True if the file was read.
    """
    with made_ground() as ground:
        kept = planted(ground, "kept/file")
        kept.write_text(ground.token)
        ground.watch(kept)
        kept.parent.chmod(mode)
        try:
            whole = f"{line}; : >neighbour"
            session = line_inside(case, ground, whole, rules, state=["--no-override"])
        finally:
            kept.parent.chmod(0o700)
        judge(session, ground.changes(), ground.token.encode() in session.only.stdout)
        expect_made(ground.ws / "neighbour")


@requires("BACKEND-RULE-01", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("mode", CLOSED, ids=oct)
@pytest.mark.parametrize("rule", NAMING)
def test_a_denied_file_stays_in_a_closed_directory(case: BackendCase, rule: str, mode: int) -> None:
    line = f"echo x >>kept/file; {OPENS}; echo x >>kept/file"
    _need_effect("kept/file", "kept/file", line)

    def judge(session: ObservedSession, changes: list[str], _: bool) -> None:
        expect_unchanged(session, "kept/file", changes)

    _behind_a_closed_directory(case, mode, line, policy((rule,)), judge)


@requires("BACKEND-RULE-06", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("mode", CLOSED, ids=oct)
@pytest.mark.parametrize("rule", NAMING)
def test_a_denied_file_in_a_closed_directory_is_not_read(
    case: BackendCase, rule: str, mode: int
) -> None:
    line = f"cat kept/file; {OPENS}; cat kept/file"
    rules = policy(deny_read=(rule,))

    def judge(session: ObservedSession, _: list[str], is_read: bool) -> None:
        expect_unread(session, "kept/file", is_read)

    _behind_a_closed_directory(case, mode, line, rules, judge)


ABOVE = "mv a gone; mkdir -p a/b; echo x >a/b/denied"


@requires("BACKEND-RULE-02", capability=RULES, needs=NEEDS)
def test_a_denied_file_stays_when_a_directory_further_up_is_moved(case: BackendCase) -> None:
    _stays(case, "a/b/denied", ABOVE, policy(("a/b/denied",)))


def _either(session: ObservedSession, rule: str, broken: bool) -> None:
    """Fail if a rule was broken and was not reported.

    A rule of the profile may be reported with its `!`.
    """
    expect_held_or_named(session, rule, named_in_a_profile(session, rule), broken)


@requires("BACKEND-RULE-03", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("rule", ["late/secret", "late/*.key"])
def test_a_rule_on_reading_that_does_not_hold_is_named(case: BackendCase, rule: str) -> None:
    name = rule.replace("*", "a")
    with made_ground() as ground:
        (ground.ws / "late").mkdir()
        line = f"(echo {ground.token} >{name}; cat {name}); : >neighbour"
        rules = policy(deny_read=(rule,))
        session = line_inside(case, ground, line, rules)
        _either(session, rule, ground.token.encode() in session.only.stdout)
        expect_made(ground.ws / "neighbour")


@requires("BACKEND-RULE-03", capability=RULES, needs=NEEDS)
def test_a_rule_of_the_profile_that_does_not_hold_is_named(case: BackendCase) -> None:
    with made_ground() as ground:
        rules = policy(modify=("**", "!late"))
        line = "echo x >late; : >neighbour"
        session = line_inside(case, ground, line, rules)
        _either(session, "late", (ground.ws / "late").exists())
        expect_made(ground.ws / "neighbour")


@requires("BACKEND-RULE-03", capability=RULES, needs=NEEDS)
def test_a_rule_on_only_a_directory_holds_or_is_named(case: BackendCase) -> None:
    """Change the mode of a denied directory whose content may be modified.

    The mode belongs to the directory itself, so the rule covers it.
    """
    line = "chmod 700 kept"
    _need_effect("kept/file", "kept", line)
    with made_ground() as ground:
        kept = planted(ground, "kept/file").parent
        ground.watch(kept)
        session = line_inside(case, ground, f"{line}; : >neighbour", policy(("kept",)))
        _either(session, "kept", bool(ground.changes()))
        expect_made(ground.ws / "neighbour")


@requires("BACKEND-RULE-03", capability=RULES, needs=NEEDS)
def test_a_rule_on_a_path_through_a_link_holds_or_is_named(case: BackendCase) -> None:
    with made_ground() as ground:
        kept = planted(ground, "real/denied")
        (ground.ws / "link").symlink_to("real")
        ground.watch(kept)
        line, rule = "echo x >>link/denied; : >neighbour", "link/denied"
        session = line_inside(case, ground, line, policy((rule,)))
        _either(session, rule, bool(ground.changes()))
        expect_made(ground.ws / "neighbour")


@requires("BACKEND-RULE-04", capability=RULES, needs=["BACKEND-LIFE-09"])
@pytest.mark.parametrize("rule", ["absent", "absent/**", "dir/absent/below/**"])
def test_no_file_is_created_for_an_allow_rule(case: BackendCase, rule: str) -> None:
    makes_nothing(case, policy(modify=(rule,)))


def _is_not_read(
    case: BackendCase, name: str, rules: dict[str, Any], profile: str = "repo-write"
) -> None:
    with made_ground() as ground:
        planted(ground, name).write_text(ground.token)
        line = f'cat "{name}"; echo; cat file'
        session = line_inside(case, ground, line, rules, profile=profile)
        found = session.only.stdout
        expect_unread(session, name, ground.token.encode() in found)
        expect(
            "whether a file without a rule is read",
            b"canary" in found,
            True,
            verdict=Verdict.OVERREFUSED,
        )


@requires("BACKEND-RULE-06", capability=RULES, needs=["BACKEND-CONTEXT-01"])
@pytest.mark.parametrize("profile", ["read-only", "repo-write", "full-dev"])
def test_a_file_that_is_denied_is_not_read(case: BackendCase, profile: str) -> None:
    _is_not_read(case, "secret", policy(deny_read=("secret",)), profile)


@requires("BACKEND-RULE-06", capability=RULES, needs=["BACKEND-CONTEXT-01"])
def test_a_denied_path_in_a_read_only_directory_is_not_read(
    case: BackendCase,
) -> None:
    both = policy(("kept", "kept/**"), deny_read=("kept/secret",))
    _is_not_read(case, "kept/secret", both)


@requires("BACKEND-WRITE-04", capability=RULES, needs=["BACKEND-CONTEXT-01"])
@pytest.mark.parametrize("modify", ["**", "own/**"])
def test_a_grant_of_a_policy_does_not_apply_under_read_only(case: BackendCase, modify: str) -> None:
    with made_ground() as ground:
        own = ground.ws / "own"
        own.mkdir()
        line, rules = "(: >own/made); echo tried", policy(modify=(modify,))
        session = line_inside(case, ground, line, rules, profile="read-only")
        made = os.listdir(own)
        if made:
            session.excuse("fs-write", "own/made")
        expect("files created in the root", made, [], verdict=Verdict.CONTRADICTION)
        output = session.only.stdout
        expect("the output of the program", output, b"tried\n", verdict=Verdict.OVERREFUSED)
