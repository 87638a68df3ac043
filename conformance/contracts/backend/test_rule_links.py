"""Policies inside: a rule or a request whose path leads through a link in the workspace."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from typing import NamedTuple

import pytest

from boxspec.api import HostLacks, Verdict, expect, requires
from contracts.backend.attempt import WORK
from contracts.backend.client import BackendCase
from contracts.backend.ground import Ground, made_ground
from contracts.backend.ruled import (
    excuse_rule,
    expect_kept_backend,
    expect_made,
    expect_unchanged_file,
    expect_unread_paths,
    line_inside,
    policy,
)

RULES = "backend.policy"
NEEDS = [WORK, "BACKEND-CONTEXT-01"]


class Linked(NamedTuple):
    """A workspace with links and their targets, a file with its names, and the rule about it."""

    links: Mapping[str, str]
    rule: str
    names: tuple[str, ...]  # the names of the file; the last one is its real name

    @property
    def file(self) -> str:
        return self.names[-1]


LINKED = {
    "a directory, all below": Linked({"link": "dir"}, "link/**", ("link/key", "dir/key")),
    "a directory, one file": Linked({"link": "dir"}, "link/key", ("link/key", "dir/key")),
    "the file itself": Linked({"link": "dir/key"}, "link", ("link", "dir/key")),
    "a link further down": Linked({"a/link": "../dir"}, "a/link/**", ("a/link/key", "dir/key")),
    "a pattern that matches the link": Linked(
        {"link": "a/dir"}, "l?nk/k*", ("link/key", "a/dir/key")
    ),
    "a pattern of any depth": Linked(
        {"a/secrets": "../dir"}, "**/secrets/**", ("a/secrets/key", "dir/key")
    ),
    "a link to a link": Linked(
        {"first": "second", "second": "dir"}, "first/**", ("first/key", "second/key", "dir/key")
    ),
    "two links on one path": Linked(
        {"a": "b", "b/c": "../dir"}, "a/c/key", ("a/c/key", "b/c/key", "dir/key")
    ),
    "an absolute link": Linked({"link": "{ws}/dir"}, "link/**", ("link/key", "dir/key")),
    "a link to the directory that holds it": Linked(
        {"dir/loop": "."}, "dir/loop/**", ("dir/loop/key", "dir/key")
    ),
    "a file below two links to one directory": Linked(
        {"one": "dir", "two": "dir"}, "two/key", ("one/key", "two/key", "dir/key")
    ),
}


def _planted(ground: Ground, linked: Linked) -> None:
    file = ground.ws / linked.file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(ground.token + "\n")
    for name, target in linked.links.items():
        link = ground.ws / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target.format(ws=ground.ws))


@requires("BACKEND-RULE-12", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("what", LINKED)
def test_a_file_denied_through_a_link_is_not_read_under_any_name(
    case: BackendCase, what: str
) -> None:
    linked = LINKED[what]
    with made_ground() as ground:
        _planted(ground, linked)
        line = f"for name in {' '.join(linked.names)}; do cat $name && echo $name; done; cat file"
        session = line_inside(case, ground, line, policy(deny_read=(linked.rule,)))
        found = session.only.stdout.decode()
        read = [name for name in linked.names if f"{ground.token}\n{name}\n" in found]
        expect_unread_paths(session, linked.rule, read)


def _need_effect(linked: Linked, line: str) -> None:
    with made_ground() as ground:
        _planted(ground, linked)
        ground.watch(ground.ws / linked.file)
        subprocess.run(["/bin/sh", "-c", line], cwd=ground.ws, check=False, capture_output=True)
        if not ground.changes():
            raise HostLacks(
                "working escape attempts", f"`{line}` changes nothing here even without a sandbox"
            )


@requires("BACKEND-RULE-12", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("what", LINKED)
def test_a_file_denied_through_a_link_stays_under_each_name(case: BackendCase, what: str) -> None:
    linked = LINKED[what]
    line = "; ".join(f"echo x >>{name}" for name in linked.names)
    _need_effect(linked, line)
    with made_ground() as ground:
        _planted(ground, linked)
        ground.watch(ground.ws / linked.file)
        session = line_inside(case, ground, f"{line}; : >neighbour", policy((linked.rule,)))
        expect_unchanged_file(session, linked.rule, ground)


@requires("BACKEND-RULE-13", capability=RULES, needs=NEEDS)
def test_links_in_circles_do_not_drop_the_sandbox(case: BackendCase) -> None:
    """Deny a file that has very many names, because links lead to the directory that they lie in.

    The sandbox must be kept: the file is protected, or its rule is reported.
    """
    with made_ground() as ground:
        _planted(ground, Linked({f"loop{n}": "." for n in range(12)}, "*/dir/key", ("dir/key",)))
        ground.watch(ground.out)
        line = f"cat dir/key loop0/dir/key; cat file; echo x >>{ground.out_from_ws}/file"
        session = case.backend.run(
            [{"program": "/bin/sh", "args": ["-c", line]}],
            root=ground.ws,
            profile="repo-write",
            policy=policy(deny_read=("*/dir/key",)),
            on_unavailable="degrade",
        )
        expect_kept_backend(case, session)
        read = [name for name in ("dir/key",) if ground.token in session.only.stdout.decode()]
        expect_unread_paths(session, "*/dir/key", read)
        if session.claim("fs-write")["claim"] == "fully":
            changed = ground.changes()
            expect("what changed outside", changed, [], verdict=Verdict.CONTRADICTION)


@requires("BACKEND-RULE-11", capability=RULES, needs=NEEDS)
def test_a_path_that_leads_out_and_back_is_held_or_not_claimed(case: BackendCase) -> None:
    """Deny a file by a path that leaves the root through a link and comes back through another.

    Only the directory of the file may be modified, so no program can replace the link in the root.
    """
    with made_ground() as ground:
        _planted(ground, Linked({"way": str(ground.out)}, "way/back/key", ("dir/key",)))
        (ground.out / "back").symlink_to(ground.ws / "dir")
        ground.watch(ground.ws / "dir" / "key")
        rules = policy(("way/back/key",), modify=("dir/**",))
        line = "echo x >>way/back/key; : >dir/neighbour"
        session = line_inside(case, ground, line, rules)
        changes = ground.changes()
        if changes:
            excuse_rule(session, "way/back/key", "fs-write", changes[0])
        expect("changes of the denied file", changes, [], verdict=Verdict.CONTRADICTION)
        expect_made(ground.ws / "dir" / "neighbour")
