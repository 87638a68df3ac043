"""Policies inside: a file with two names, a pipe, a root in a permitted directory, and patterns."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import pytest

from boxspec.api import Declared, HostLacks, Verdict, expect, expect_fifo, requires, written
from contracts.backend.answers import ObservedSession
from contracts.backend.attempt import WORK, expect_nothing_outside
from contracts.backend.client import BackendCase
from contracts.backend.ground import CANARY, Ground, made_ground
from contracts.backend.ruled import (
    expect_held_or_named,
    expect_unchanged,
    expect_unread,
    line_inside,
    named,
    planted,
    policy,
)

RULES = "backend.policy"
NEEDS = [WORK, "BACKEND-CONTEXT-01"]


def inside(
    case: BackendCase,
    ground: Ground,
    line: str,
    rules: dict[str, Any],
    *,
    root: Path | None = None,
    profile: str = "repo-write",
) -> ObservedSession:
    """Run a script as line_inside does. The last line of its output shows that it ran to its
    end."""
    session = line_inside(case, ground, f"{line}\necho ran", rules, root=root, profile=profile)
    expect(
        "whether the program ran",
        b"ran\n" in session.only.stdout,
        True,
        verdict=Verdict.OVERREFUSED,
    )
    return session


# Other names of a denied file, in its own directory and in directories around it.
ALIASES = ("a/alias", "alias", "a/b/alias", "z/alias")


def _with_aliases(ground: Ground, text: str) -> set[bytes]:
    kept = planted(ground, "a/kept")
    kept.write_text(text)
    for name in ALIASES:
        path = ground.ws / name
        path.parent.mkdir(exist_ok=True)
        os.link(kept, path)
    return {os.fsencode(ground.ws / name) for name in ("a/kept", *ALIASES)}


@requires("BACKEND-RULE-01", capability=RULES, needs=NEEDS)
def test_a_denied_file_stays_under_its_other_names(case: BackendCase) -> None:
    """Write to a denied file by its other names.

    Without the denied name, these names would be allowed. But they are hard links of the denied
    file.
    """
    with made_ground() as ground:
        names = _with_aliases(ground, CANARY)
        ground.watch(ground.ws / "a" / "kept")
        line = "; ".join(f"(echo x >>{name})" for name in ALIASES)
        session = inside(case, ground, line, policy(("a/kept",)))
        if ground.changes() and names <= {*session.hard_links}:
            raise Declared("hard_links", "named", "a/kept is changed as alias")
        expect_unchanged(session, "a/kept", ground.changes())


@requires("BACKEND-RULE-06", capability=RULES, needs=NEEDS)
def test_a_denied_file_is_not_read_under_its_other_names(case: BackendCase) -> None:
    with made_ground() as ground:
        names = _with_aliases(ground, ground.token)
        line = f"cat {' '.join(ALIASES)}"
        session = inside(case, ground, line, policy(deny_read=("a/kept",)))
        is_read = ground.token.encode() in session.only.stdout
        if is_read and names <= {*session.hard_links}:
            raise Declared("hard_links", "named", "a/kept is read as alias")
        expect_unread(session, "a/kept", is_read)


# The name of each file begins with the name of another denied file or directory.
ALIKE = ("key", "key2", "key.old", "key-x", "key x", "keys/one", "keys.d/one")
# Paths without a rule. Each is the beginning of a denied path, or begins with one.
OTHERS = ("ke", "key22", "keys2", "keys.d2")
RULES_ALIKE = tuple(f"{name.partition('/')[0]}/**" if "/" in name else name for name in ALIKE)


def expect_others_allowed(failed: list[str]) -> None:
    expect("files without a rule that are refused", failed, [], verdict=Verdict.OVERREFUSED)


@requires("BACKEND-RULE-06", capability=RULES, needs=NEEDS)
def test_each_of_several_names_that_begin_alike_is_not_read(case: BackendCase) -> None:
    with made_ground() as ground:
        for name in (*ALIKE, *OTHERS):
            planted(ground, name).write_text(f"{name}: {ground.token}\n")
        line = "cat key* keys/* keys.d/* ke"
        session = inside(case, ground, line, policy(deny_read=RULES_ALIKE))
        seen = session.only.stdout.decode()
        found = {name for name in (*ALIKE, *OTHERS) if f"{name}: {ground.token}" in seen}
        for name in ALIKE:
            expect_unread(session, name, name in found)
        expect_others_allowed(sorted({*OTHERS} - found))


@requires("BACKEND-RULE-01", capability=RULES, needs=NEEDS)
def test_each_of_several_names_that_begin_alike_stays(case: BackendCase) -> None:
    with made_ground() as ground:
        kept = [planted(ground, name) for name in ALIKE]
        others = [planted(ground, name) for name in OTHERS]
        ground.watch(*kept)
        line = 'for f in key* keys/* keys.d/* ke; do (echo x >>"$f"); done'
        session = inside(case, ground, line, policy(RULES_ALIKE))
        expect_unchanged(session, "key", ground.changes())
        expect_others_allowed([each.name for each in others if written(each) == CANARY.encode()])


@contextlib.contextmanager
def listening(pipe: Path) -> Any:
    """Keep a reader open outside, because a program that opens a pipe for writing would wait for a
    reader."""
    fd = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield fd
    finally:
        os.close(fd)


def _heard(fd: int) -> bytes:
    with contextlib.suppress(BlockingIOError):
        return os.read(fd, 100)
    return b""


@requires("BACKEND-RULE-01", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize(("name", "denied"), [("p", ("p",)), ("d/p", ("d", "d/**"))])
def test_a_write_to_a_denied_pipe_does_not_arrive(
    case: BackendCase, name: str, denied: tuple[str, ...]
) -> None:
    """Write to a denied pipe. Even a read-only mount does not prevent this."""
    with made_ground() as ground:
        pipe = ground.ws / name
        pipe.parent.mkdir(exist_ok=True)
        os.mkfifo(pipe)
        with listening(pipe) as fd:
            with expect_fifo(), pipe.open("wb") as writer:
                writer.write(b"control")
            if _heard(fd) != b"control":
                raise HostLacks(
                    "working escape attempts", "the test's pipe passes no bytes on here"
                )
            session = inside(case, ground, f"echo x >{name}", policy(denied))
            heard = _heard(fd)
        expect_unchanged(session, name, [f"{name}: {heard!r} arrives"] if heard else [])


@requires("BACKEND-RULE-02", capability=RULES, needs=NEEDS)
def test_a_denied_file_stays_when_the_way_to_the_root_is_moved(case: BackendCase) -> None:
    """Move a directory between the cache and the root.

    full-dev permits writes to these directories, so a program may move them.
    """
    with made_ground() as ground:
        cache = ground.home / ".cache"
        root = cache / "a" / "ws"
        kept = planted(ground, "kept", root)
        ground.watch(kept)
        line = f"mv {cache}/a {cache}/b; mkdir -p {root}; echo x >{kept}"
        rules = policy(("kept",))
        session = inside(case, ground, line, rules, root=root, profile="full-dev")
        expect_unchanged(session, "kept", ground.changes())


@requires("BACKEND-RULE-01", capability=RULES, needs=NEEDS)
def test_a_path_that_no_rule_allows_stays_below_the_cache(case: BackendCase) -> None:
    with made_ground() as ground:
        root = ground.home / ".cache" / "project"
        kept = planted(ground, "kept", root)
        ground.watch(kept)
        rules = policy(modify=("src/**",))
        session = inside(case, ground, "echo x >kept", rules, root=root, profile="full-dev")
        expect_unchanged(session, "kept", ground.changes())


@requires("BACKEND-RULE-03", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("rule", ["src/*", "s*/*", "?rc/new"])
def test_a_rule_that_allows_one_level_allows_no_more_or_is_named(
    case: BackendCase, rule: str
) -> None:
    """Allow only one level of a directory.

    A sandbox that uses only mounts gives a new directory the access of its parent directory.
    """
    with made_ground() as ground:
        (ground.ws / "src").mkdir()
        line = "mkdir src/new; echo x >src/new/file"
        session = inside(case, ground, line, policy(modify=(rule,)))
        broken = (ground.ws / "src" / "new" / "file").exists()
        expect_held_or_named(session, rule, named(session, rule), broken)


@requires("BACKEND-RULE-05", capability=RULES, needs=NEEDS)
def test_a_grant_that_a_program_made_a_link_leads_nowhere(case: BackendCase) -> None:
    """Replace a permitted path by a link in one call, and use it in the next.

    A permitted path is looked up again at each call.
    """
    with made_ground() as ground:
        out = ground.out_from_ws
        lines = (
            f"mv a/x a/y; ln -s ../{out} a/x; echo ran",
            f"(: >{out}/c/made); (: >a/x/c/made)",
        )
        (ground.ws / "a" / "x" / "c").mkdir(parents=True)
        (ground.out / "c").mkdir()
        ground.watch(ground.out)
        session = case.backend.run(
            [{"program": "/bin/sh", "args": ["-c", line]} for line in lines],
            root=ground.ws,
            profile="repo-write",
            policy=policy(modify=("a/**", "a/x/c/**")),
            on_unavailable="degrade",
        )
        session.need_enforcement()
        ran = b"ran\n" in session.calls[0].stdout
        expect("whether the first call ran", ran, True, verdict=Verdict.OVERREFUSED)
        expect_nothing_outside(session, ground.changes(), "a link of the root")


@requires("BACKEND-RULE-01", capability=RULES, needs=NEEDS)
def test_a_denied_pipe_in_a_closed_directory_is_not_written_to(case: BackendCase) -> None:
    """Write to a denied pipe in a directory that cannot be listed. A program may know its name
    anyway."""
    with made_ground() as ground:
        pipe = ground.ws / "d" / "p"
        pipe.parent.mkdir()
        os.mkfifo(pipe)
        with listening(pipe) as fd:
            pipe.parent.chmod(0o111)
            line = "echo x >d/p"
            try:
                session = line_inside(
                    case, ground, line, policy(("d", "d/**")), state=["--no-override"]
                )
            finally:
                pipe.parent.chmod(0o700)
            heard = _heard(fd)
        expect_unchanged(session, "d/p", [f"d/p: {heard!r} arrives"] if heard else [])
