"""Policies inside: rules in each use of a session, in later calls, for any name, and with
exceptions."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from boxspec.api import Declared, Verdict, expect, requires, written
from contracts.backend.answers import ObservedSession
from contracts.backend.attempt import WORK
from contracts.backend.client import BackendCase, Context
from contracts.backend.ground import Ground, made_ground
from contracts.backend.ruled import (
    expect_unchanged,
    expect_unread,
    line_inside,
    named,
    planted,
    policy,
)
from contracts.backend.uses import USES, Use, name_of, shell

RULES = "backend.policy"
NEEDS = [WORK, "BACKEND-CONTEXT-01", "BACKEND-CONTEXT-02", "BACKEND-CONTEXT-06"]
READ, KEPT = ("key", "vault/**"), ("kept", "tree/**")


def _expect_held(session: ObservedSession, ground: Ground) -> None:
    """Fail if the secret was read, or if a watched path has changed."""
    is_read = any(ground.token.encode() in call.stdout for call in session.calls if call.ok)
    expect_unread(session, "vault", is_read)
    expect_unchanged(session, "tree", ground.changes())


def _expect_made(path: Path, session: ObservedSession) -> None:
    """Fail unless the last command of a script has created this file."""
    last = session.calls[-1]
    evidence = {"stderr": last.stderr[:400] if last.ok else str(last.error)}
    expect(f"whether {path.name} is made", path.exists(), True, evidence, Verdict.OVERREFUSED)


@requires("BACKEND-RULE-17", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("use", USES, ids=name_of)
def test_rules_hold_in_each_use(case: BackendCase, use: Callable[[Ground], Use]) -> None:
    with made_ground() as ground:
        for name in ("key", "vault/deep/key"):
            planted(ground, name).write_text(ground.token)
        kept = [planted(ground, name) for name in ("kept", "tree/deep/kept")]
        used = use(ground)
        ground.watch(kept[0], ground.ws / "tree")
        line = f"""cd '{ground.ws}'; cat key vault/deep/key; cd vault/deep && cat key
cd '{ground.ws}'; for f in kept tree/deep/kept tree/new; do (echo x >>$f); done
rm -f kept tree/new; mv tree moved; mv vault gone
(echo x >>moved/deep/kept); cat gone/deep/key; : >neighbour"""
        context: Context = {"root": ground.ws, "profile": "repo-write", **used.context}
        context["policy"] = policy(KEPT, deny_read=READ)
        session = case.backend.run(
            [*used.before, *[shell(line, used.call)] * 2],
            **context,
            on_unavailable="degrade",
            shim_env={"HOME": str(ground.home), **used.env},
        )
        session.need_enforcement()
        _expect_held(session, ground)
        _expect_made(ground.ws / "neighbour", session)


@requires("BACKEND-RULE-17", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("by", ["context", "call"])
@pytest.mark.parametrize("place", ["tree", "tree/deep", "open"])
def test_a_directory_that_a_rule_denies_holds_as_working_directory(
    case: BackendCase, place: str, by: str
) -> None:
    with made_ground() as ground:
        kept = [planted(ground, f"{name}/kept") for name in ("tree", "tree/deep", "open")]
        ground.watch(ground.ws / "tree", kept[2])
        here = str(ground.ws / place)
        line = "(: >new; echo x >>kept; mv kept moved; mkdir made) 2>/dev/null"
        context: Context = {"root": ground.ws, "profile": "repo-write"}
        context["policy"] = policy(("tree/**", "open/kept"))
        if by == "context":
            context["cwd"] = here
        session = case.backend.run(
            [
                shell(line, {"current_dir": here} if by == "call" else {}),
                shell(f": >'{ground.ws}/neighbour'"),
            ],
            **context,
            on_unavailable="degrade",
        )
        session.need_enforcement()
        expect_unchanged(session, place, ground.changes())
        _expect_made(ground.ws / "neighbour", session)


# How the calls change the places of `a/b/key` and `a/b/kept` before a later call looks for them.
MOVES = {
    "the directory": "mv a/b gone; mkdir a/b; : >a/b/key; : >a/b/kept",
    "the directory above it": "mv a gone; mkdir -p a/b; : >a/b/key; : >a/b/kept",
    "both": "mv a/b a/c; mv a gone; mkdir -p a/b; : >a/b/key; : >a/b/kept",
    "the directory, and a link in its place": "mv a gone; mkdir -p c/b; ln -s c a",
    "the file": "mv a/b/key gone; mv a/b/kept gone2; : >a/b/key; : >a/b/kept",
    "a hard link": "ln a/b/key gone; ln a/b/kept gone2",
}
LATER = "find . -name 'k*' -o -name 'gone*' -type f | while read -r f; do cat $f; echo x >>$f; done"


@requires("BACKEND-RULE-18", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("rules", [("a/b/key", "a/b/kept"), ("a/b/**", "a/b/**")])
@pytest.mark.parametrize("what", MOVES)
def test_a_moved_directory_uncovers_nothing_in_a_later_call(
    case: BackendCase, what: str, rules: tuple[str, str]
) -> None:
    move = MOVES[what]
    with made_ground() as ground:
        # Only one of the two rules is given, because the other rule would protect the file too.
        for read, modify in ((rules[0], None), (None, rules[1])):
            name = "key" if read else "kept"
            path = planted(ground, f"a/b/{name}")
            path.write_text(ground.token if read else "canary\n")
            inode = path.stat().st_ino
            given = policy((modify,) if modify else (), deny_read=(read,) if read else ())
            session = case.backend.run(
                [shell(line) for line in (move, f"{LATER}; {move}", f"{LATER}; : >neighbour")],
                root=ground.ws,
                profile="repo-write",
                policy=given,
                on_unavailable="degrade",
            )
            session.need_enforcement()
            if read:
                found = b"".join(call.stdout for call in session.calls if call.ok)
                expect_unread(session, "a/b/key", ground.token.encode() in found)
            else:
                expect_unchanged(session, "a/b/kept", _changes_of(ground.ws, inode))
            _expect_made(ground.ws / "neighbour", session)
            (ground.ws / "neighbour").unlink()


def _changes_of(root: Path, inode: int) -> list[str]:
    """Return the place of the file if its content was changed. A removed file is a change too."""
    found = [path for path in root.rglob("*") if path.lstat().st_ino == inode]
    if not found:
        return ["gone: a/b/kept"]
    return [f"changed: {path.relative_to(root)}" for path in found if written(path) != b"canary\n"]


STRANGE = (b"back\\slash", b" blank", b"blank ", b"\xff\xfe", b"new\nline", b"*", b"!x", b"~")


@requires("BACKEND-RULE-19", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("name", STRANGE, ids=repr)
def test_a_strange_name_neither_ends_the_sandbox_nor_the_rules(
    case: BackendCase, name: bytes
) -> None:
    with made_ground() as ground:
        for folder, text in (("vault", ground.token), ("tree", "canary\n"), ("", "canary\n")):
            below = ground.ws / folder / "below" / os.fsdecode(name)
            below.mkdir(parents=True)
            (below / "key").write_text(text)
            (below / os.fsdecode(name)).write_text(text)
        ground.watch(ground.ws / "tree")
        line = """find vault -type f | while IFS= read -r f; do cat "$f"; done
cat vault/below/*/*; for f in tree/below/*/*; do (echo x >>"$f"); rm -rf "$f"; done
rm -rf tree/below; : >neighbour"""
        session = case.backend.run(
            [shell(line)],
            root=ground.ws,
            profile="repo-write",
            policy=policy(KEPT[1:], deny_read=READ[1:]),
            on_unavailable="degrade",
        )
        _expect_kept(case, session)
        _expect_held(session, ground)
        _expect_made(ground.ws / "neighbour", session)


def _expect_kept(case: BackendCase, session: ObservedSession) -> None:
    """Fail if this session runs without a sandbox, although a session with the same rules in a
    plain root has one."""
    if session.result["enforcement"] != "none":
        return
    with made_ground() as ground:
        rules = policy(KEPT[1:], deny_read=READ[1:])
        line_inside(case, ground, ":", rules)
    expect("the enforcement", "none", "fully or partial", verdict=Verdict.CONTRADICTION)


# The denies with their exceptions. For each path below `st`: True if it may be modified.
EXCEPTIONS: dict[str, tuple[dict[str, Any], dict[str, bool]]] = {
    "a subtree": (
        policy(("st/**", "!st/cache/**")),
        {"st/kept": False, "st/cache/file": True, "st/cache/sub/new": True},
    ),
    "a file": (policy(("st/**", "!st/cache/file")), {"st/cache/file": True, "st/kept": False}),
    "a deny inside": (
        policy(("st/**", "!st/cache/**", "st/cache/sub/**")),
        {"st/cache/file": True, "st/cache/sub/file": False, "st/kept": False},
    ),
    "everything": (
        policy(("**", "!st/cache/**"), modify=("st/**", "other")),
        {"st/cache/file": True, "st/kept": False, "other": False},
    ),
    "a profile that allows less": (
        policy(("st/**", "!st/cache/**"), modify=("**", "!st/cache/sub/**")),
        {"st/cache/file": True, "st/cache/sub/file": False, "st/kept": False},
    ),
}


@requires("BACKEND-RULE-20", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("what", EXCEPTIONS)
def test_an_exception_gives_back_what_lies_in_it(case: BackendCase, what: str) -> None:
    rules, paths = EXCEPTIONS[what]
    with made_ground() as ground:
        for name in ("st/kept", "st/cache/file", "st/cache/sub/file", "other"):
            planted(ground, name)
        ground.watch(*(ground.ws / name for name, allowed in paths.items() if not allowed))
        line = "; ".join(f"(echo x >>{name})" for name in paths)
        session = line_inside(case, ground, line, rules)
        expect_unchanged(session, "st", ground.changes())
        exceptions = [rule for rule in ("st/cache/**", "st/cache/file") if named(session, rule)]
        for name in (name for name, allowed in paths.items() if allowed):
            path = ground.ws / name
            is_written = path.exists() and written(path).endswith(b"x\n")
            if not is_written and exceptions:
                raise Declared(exceptions[0], "not enforced", f"{name} cannot be modified")
            expect(f"whether {name} is modified", is_written, True, verdict=Verdict.OVERREFUSED)
