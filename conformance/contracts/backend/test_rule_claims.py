"""Policies inside: a rule that is not enforced lowers the claim, but the sandbox is still used."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest

from boxspec.api import Verdict, expect, requires
from contracts.backend.answers import ObservedSession
from contracts.backend.attempt import WORK
from contracts.backend.client import BackendCase
from contracts.backend.ground import Ground, made_ground
from contracts.backend.ruled import expect_kept_backend, line_inside, policy
from contracts.shared.requests import ExecRequest

RULES = "backend.policy"
NEEDS = [WORK, "BACKEND-CONTEXT-01"]


class Broken(NamedTuple):
    """A way to break a rule, and a function that checks from outside whether it was broken."""

    aspect: str
    rule: str
    line: str
    is_broken: Callable[[Ground, ObservedSession], bool]


def _made(name: str) -> Callable[[Ground, ObservedSession], bool]:
    return lambda ground, _: (ground.ws / name).is_file()


def _read(ground: Ground, session: ObservedSession) -> bool:
    return any(ground.token.encode() in call.stdout for call in session.calls)


WRITE, READ = "fs-write", "fs-read"
MAKE = "mkdir -p b/c && echo x >b/c/d"
BROKEN = {
    "a file that does not exist yet": Broken(WRITE, "late", "echo x >late", _made("late")),
    "a path whose directory does not exist yet": Broken(WRITE, "b/c/d", MAKE, _made("b/c/d")),
    "a tree that does not exist yet": Broken(WRITE, "b/**", MAKE, _made("b/c/d")),
    "a tree in a directory that exists": Broken(
        WRITE, "dir/b/**", f"cd dir; {MAKE}", _made("dir/b/c/d")
    ),
    "a pattern": Broken(WRITE, "**/*.key", "echo x >dir/a.key", _made("dir/a.key")),
    "a pattern of one directory": Broken(WRITE, "dir/?", "echo x >dir/a", _made("dir/a")),
    # Each of these patterns is also the name of a file.
    "a star that is also a name": Broken(WRITE, "t*p", "echo x >top", _made("top")),
    "a question mark that is also a name": Broken(WRITE, "k?y", "echo x >key", _made("key")),
    "a link that can be replaced": Broken(
        WRITE, "link/**", "rm link; mkdir link; echo x >link/a", _made("link/a")
    ),
    "a file that is a link": Broken(
        WRITE,
        "name",
        "rm name; echo x >name",
        lambda ground, _: not (ground.ws / "name").is_symlink(),
    ),
    "a path that leads through a link": Broken(
        WRITE,
        "link/key",
        "rm link; mkdir link; echo x >link/key",
        lambda ground, _: not (ground.ws / "link").is_symlink(),
    ),
    "a link that leads out": Broken(READ, "way/key", "cat way/key", _read),
    "a subtree through a link that leads out": Broken(READ, "way/**", "cat way/key", _read),
    "a link that leads out, in a linked directory": Broken(
        READ, "link/out/key", "cat link/out/key", _read
    ),
    "a pattern through a link that leads out, in a linked directory": Broken(
        READ, "l*/out/k*", "cat link/out/key", _read
    ),
}


def _ground(ground: Ground) -> None:
    (ground.ws / "dir").mkdir()
    (ground.ws / "dir" / "key").write_text("canary\n")
    (ground.ws / "link").symlink_to("dir")
    (ground.ws / "name").symlink_to("dir/key")
    for name in ("t*p", "k?y"):
        (ground.ws / name).touch()
    for link in ("way", "dir/out"):
        (ground.ws / link).symlink_to(ground.out)
    (ground.out / "key").write_text(ground.token)


def _rules(broken: Broken) -> dict[str, Any]:
    return policy((broken.rule,)) if broken.aspect == WRITE else policy(deny_read=(broken.rule,))


def _try_under_refuse(
    case: BackendCase, ground: Ground, broken: Broken, accept: Sequence[str] | None = None
) -> ObservedSession:
    """Try to break the rule, in a session that opens only if it enforces everything."""
    call: ExecRequest = {"program": "/bin/sh", "args": ["-c", broken.line]}
    return _session(case, ground, broken, [call], on_unavailable="refuse", accept=accept)


def _session(
    case: BackendCase, ground: Ground, broken: Broken, calls: Sequence[ExecRequest], **more: Any
) -> ObservedSession:
    """Run a session with this rule."""
    rules = _rules(broken)
    return case.backend.run(calls, root=ground.ws, profile="repo-write", policy=rules, **more)


@requires("BACKEND-RULE-11", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("what", BROKEN)
def test_a_rule_that_is_broken_is_not_claimed_fully(case: BackendCase, what: str) -> None:
    broken = BROKEN[what]
    with made_ground() as ground:
        _ground(ground)
        session = line_inside(case, ground, broken.line, _rules(broken))
        is_broken = broken.is_broken(ground, session)
        claimed = session.claim(broken.aspect)["claim"]
        evidence = {"not_enforced": session.result["not_enforced"]}
        expect(
            f"whether {broken.aspect} is claimed fully although {broken.rule} was broken",
            (claimed == "fully" or session.result["enforcement"] == "fully") and is_broken,
            False,
            evidence,
            Verdict.CONTRADICTION,
        )


@requires("BACKEND-SESSION-10", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("what", BROKEN)
def test_each_result_has_the_enforcement_that_is_left(case: BackendCase, what: str) -> None:
    """Run two calls under a rule that the backend may not be able to enforce in this workspace.

    Prepare may find this out. Each result must report the enforcement that remains.
    """
    with made_ground() as ground:
        _ground(ground)
        calls: list[ExecRequest] = [{"program": "/bin/true"}] * 2
        session = _session(case, ground, BROKEN[what], calls, on_unavailable="degrade")
        got = [call.result.get("enforcement") for call in session.calls]
        expect("the enforcement of each call", got, [session.result["enforcement"]] * 2)


@requires("BACKEND-RULE-11", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("what", BROKEN)
def test_a_rule_is_not_broken_under_refuse(case: BackendCase, what: str) -> None:
    """Try to break a rule under refuse: the session must be refused, or the rule must be
    enforced."""
    broken = BROKEN[what]
    with made_ground() as ground:
        _ground(ground)
        session = _try_under_refuse(case, ground, broken)
        is_broken = broken.is_broken(ground, session)
        evidence = {"session": session.result["session"], "rule": broken.rule}
        expect("whether the rule was broken", is_broken, False, evidence, Verdict.CONTRADICTION)


@requires("BACKEND-RULE-14", capability="backend.accept", needs=[*NEEDS, "BACKEND-RULE-11"])
@pytest.mark.parametrize("rule", ["late", "b/c/d", "**/*.key"])
def test_late_names_may_be_accepted(case: BackendCase, rule: str) -> None:
    """Accept late names, with a rule whose name does not exist yet.

    If all other rules are enforced, the session opens, and its result reports this rule as not
    enforced.
    """
    asked: dict[str, Any] = {"policy": policy((rule,))}
    without = case.backend.probe("repo-write")
    accepted = case.backend.probe("repo-write", accept=["late-names"], **asked)
    expect("overall", accepted.result["overall"], without.result["overall"])
    with made_ground() as ground:
        session = case.backend.run(
            [{"program": "/bin/true"}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="refuse",
            accept=["late-names"],
            **asked,
        )
        opens = without.result["overall"] == "fully"
        expect("whether the session opens", session.opened, opens)
        named_rules = [each["rule"] for each in session.result["not_enforced"]]
        expect("the rules that are named", named_rules if opens else [rule], [rule])


@requires("BACKEND-RULE-14", capability="backend.accept", needs=["BACKEND-RULE-11"])
@pytest.mark.parametrize("word", [None, "early-names", "late", "LATE-NAMES", "late-names ", "*"])
def test_no_other_word_accepts_late_names(case: BackendCase, word: str | None) -> None:
    """Accept nothing, or a word with no meaning, which may also be refused."""
    asked: dict[str, Any] = {"policy": policy(("late", "**/*.key"))}
    without = case.backend.probe("repo-write", **asked).result
    answer = case.backend.probe("repo-write", accept=[word] if word else [], **asked)
    if word is not None and not answer.ok:
        expect("the kind of the error", answer.error["kind"], "invalid_input")
    else:
        got = answer.result["aspects"][WRITE]["claim"]
        expect("the claim of fs-write", got, without["aspects"][WRITE]["claim"])


@requires("BACKEND-RULE-14", capability="backend.accept", needs=[*NEEDS, "BACKEND-RULE-12"])
@pytest.mark.parametrize("what", [name for name in BROKEN if "leads out" in name])
def test_accepting_late_names_accepts_no_other_gap(case: BackendCase, what: str) -> None:
    """Accept late names, with a rule for an existing path that may not be enforced.

    The aspect of the rule must stay partial then.
    """
    broken = BROKEN[what]
    with made_ground() as ground:
        _ground(ground)
        session = _try_under_refuse(case, ground, broken, accept=["late-names"])
        is_broken = broken.is_broken(ground, session)
        expect("whether the rule was broken", is_broken, False, verdict=Verdict.CONTRADICTION)


def _many(ground: Ground, shape: str, n: int) -> list[str]:
    """Create files that contain the token and the end of their own name; return the names."""
    folder = "/".join(["d" * 200] * 15) if shape == "long" else "many"
    names = [f"{'d/' * (i + 1)}a.key" if shape == "deep" else f"{folder}/{i}.key" for i in range(n)]
    for parent in dict.fromkeys(os.path.dirname(name) for name in names):  # noqa: PTH120
        (ground.ws / parent).mkdir(parents=True, exist_ok=True)
    workspace = str(ground.ws)
    for name in names:
        # Thousands of paths as objects would take most of the time of the test.
        with open(f"{workspace}/{name}", "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write(f"{ground.token} {name[-60:]}\n")
    return names


# More files than bubblewrap takes: it refuses more than 9,000 arguments, and a file needs three.
TOO_MANY = 3_200
# More paths of 3,000 characters than the 2 MiB that the kernel gives to the arguments of a program.
TOO_LONG = 720


@requires("BACKEND-RULE-13", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize(
    ("shape", "n"),
    [("wide", 150), ("wide", TOO_MANY), ("deep", 150), ("listed", 600), ("long", TOO_LONG)],
)
def test_many_denied_files_do_not_drop_the_sandbox(case: BackendCase, shape: str, n: int) -> None:
    """Deny many files under degrade.

    The backend must still be used: each file is protected, or its rule is reported.
    """
    with made_ground() as ground:
        line = 'find . -name "*.key" -print0 | xargs -0 cat 2>/dev/null'
        line += f"; echo x >>{ground.out_from_ws}/file"
        names = _many(ground, shape, n)
        ground.watch(ground.out)
        session = case.backend.run(
            [{"program": "/bin/sh", "args": ["-c", line]}],
            root=ground.ws,
            profile="repo-write",
            policy=policy(deny_read=tuple(names) if shape == "listed" else ("**/*.key",)),
            on_unavailable="degrade",
            within_s=120.0,
        )
        expect_kept_backend(case, session)
        if session.claim("fs-write")["claim"] == "fully":
            changed = ground.changes()
            expect("what changed outside", changed, [], verdict=Verdict.CONTRADICTION)
        lines = session.only.stdout.decode().splitlines()
        read = [line.split()[1] for line in lines if line.startswith(ground.token)]
        named_rules = {str(each["rule"]) for each in session.result["not_enforced"]}
        silent = [name for name in read if not named_rules & {name, "**/*.key"}]
        expect(
            "denied files that are read although no rule is named as not enforced", silent[:3], []
        )
        fully = session.claim("fs-read")["claim"] == "fully"
        expect(
            "denied files that are read although fs-read is claimed fully",
            read[:3] if fully else [],
            [],
        )


@requires("BACKEND-RULE-14", capability="backend.accept", needs=[*NEEDS, "BACKEND-RULE-13"])
@pytest.mark.parametrize(("shape", "n"), [("wide", 150), ("wide", TOO_MANY), ("deep", 150)])
def test_accepted_late_names_are_no_excuse_for_files_that_exist(
    case: BackendCase, shape: str, n: int
) -> None:
    with made_ground() as ground:
        _many(ground, shape, n)
        line = 'find . -name "*.key" -print0 | xargs -0 cat 2>/dev/null; echo looked'
        session = case.backend.run(
            [{"program": "/bin/sh", "args": ["-c", line]}],
            root=ground.ws,
            profile="repo-write",
            policy=policy(deny_read=("**/*.key",)),
            on_unavailable="degrade",
            accept=["late-names"],
            within_s=120.0,
        )
        *read, looked = session.only.stdout.decode().splitlines() or [""]
        expect("exit code of the script", looked, "looked", verdict=Verdict.UNPROVEN)
        fully = session.claim("fs-read")["claim"] == "fully"
        read = [each.removeprefix(ground.token) for each in read if fully]
        expect("files that are read", read[:3], [], verdict=Verdict.CONTRADICTION)
