"""Policies inside: a file of the root that a mount shows under a second path."""

from __future__ import annotations

import os
from typing import NamedTuple

import pytest

from boxspec.api import expect, requires
from contracts.backend.attempt import WORK
from contracts.backend.client import BackendCase
from contracts.backend.ground import Ground, made_ground
from contracts.backend.ruled import (
    expect_unchanged_file,
    expect_unread_paths,
    line_inside,
    policy,
)

RULES = "backend.policy"
NEEDS = [WORK, "BACKEND-CONTEXT-01"]


class Mounted(NamedTuple):
    """A mount that gives a file a second path.

    source: the mounted directory or file. `{ws}` is the root, `{out}` a directory outside.
    at: the mount point.
    rule: the rule about the file.
    paths: the two paths of the file.
    """

    source: str
    at: str
    rule: str
    paths: tuple[str, str]


INSIDE = {
    "the rule names the first place": Mounted(
        "{ws}/dir", "{ws}/second", "dir/key", ("{ws}/dir/key", "{ws}/second/key")
    ),
    "the rule names the second place": Mounted(
        "{ws}/dir", "{ws}/a/second", "a/second/**", ("{ws}/dir/key", "{ws}/a/second/key")
    ),
    "a pattern": Mounted("{ws}/dir", "{ws}/x y", "**/x y/*", ("{ws}/dir/key", "{ws}/x y/key")),
    "a directory above the denied one": Mounted(
        "{ws}/a", "{ws}/second", "a/dir/key", ("{ws}/a/dir/key", "{ws}/second/dir/key")
    ),
    "a directory below the denied one": Mounted(
        "{ws}/a/dir", "{ws}/second", "a/**", ("{ws}/a/dir/key", "{ws}/second/key")
    ),
    "one file": Mounted("{ws}/dir/key", "{ws}/second", "dir/key", ("{ws}/dir/key", "{ws}/second")),
    "the root itself": Mounted(
        "{ws}", "{ws}/second", "dir/key", ("{ws}/dir/key", "{ws}/second/dir/key")
    ),
}
OUTSIDE = {
    "the root is mounted outside": Mounted(
        "{ws}", "{out}/empty", "dir/key", ("{ws}/dir/key", "{out}/empty/dir/key")
    ),
    "a denied directory is mounted outside": Mounted(
        "{ws}/dir", "{out}/empty", "dir/**", ("{ws}/dir/key", "{out}/empty/key")
    ),
    "a directory below the denied one is mounted outside": Mounted(
        "{ws}/a/dir", "{out}/empty", "a/**", ("{ws}/a/dir/key", "{out}/empty/key")
    ),
    "a directory outside is mounted in the root": Mounted(
        "{out}/shown", "{ws}/second", "second/key", ("{out}/shown/key", "{ws}/second/key")
    ),
}


def _planted(ground: Ground, mounted: Mounted) -> tuple[list[str], list[str]]:
    """Create the file and the mount point.

    Return the two paths of the file, and the state that makes the mount.
    """
    places = {"ws": str(ground.ws), "out": str(ground.out)}
    paths = [path.format(**places) for path in mounted.paths]
    file = ground.folder / paths[0]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(ground.token + "\n")
    at = ground.folder / mounted.at.format(**places)
    if mounted.source.endswith("/key"):
        at.touch()
    else:
        at.mkdir(parents=True, exist_ok=True)
    return paths, ["--bind", f"{mounted.source.format(**places)}={at}"]


@requires("BACKEND-RULE-21", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("what", [*INSIDE, *OUTSIDE])
def test_a_denied_file_is_not_read_through_a_mount(case: BackendCase, what: str) -> None:
    mounted = {**INSIDE, **OUTSIDE}[what]
    with made_ground() as ground:
        paths, state = _planted(ground, mounted)
        line = "; ".join(f"cat '{path}' && echo 'read {path}'" for path in paths)
        rules = policy(deny_read=(mounted.rule,))
        session = line_inside(case, ground, f"{line}; cat file", rules, state=state)
        found = session.only.stdout.decode()
        read = [path for path in paths if f"{ground.token}\nread {path}\n" in found]
        expect_unread_paths(session, mounted.rule, read)


@requires("BACKEND-RULE-21", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("what", INSIDE)
def test_a_denied_file_is_not_changed_through_a_mount(case: BackendCase, what: str) -> None:
    mounted = INSIDE[what]
    with made_ground() as ground:
        paths, state = _planted(ground, mounted)
        file = ground.folder / paths[0]
        ground.watch(file)
        line = "; ".join(f"echo x >>'{path}'" for path in paths)
        rules = policy((mounted.rule,))
        session = line_inside(case, ground, f"{line}; : >neighbour", rules, state=state)
        expect_unchanged_file(session, mounted.rule, ground)


@requires("BACKEND-RULE-07", capability=RULES, needs=[WORK])
def test_a_path_through_a_mount_is_no_further_hard_link(case: BackendCase) -> None:
    """Mount a directory of the root, and make a hard link to its file outside.

    The hard link must be noticed, although the file has two paths in the root.
    """
    with made_ground() as ground:
        folders = [ground.ws / name for name in ("dir", "second")]
        for folder in folders:
            folder.mkdir()
        os.link(ground.out / "file", folders[0] / "alias")
        os.link(ground.ws / "file", folders[0] / "pair")
        state = ["--bind", f"{folders[0]}={folders[1]}"]
        session = line_inside(case, ground, "true", policy(("neighbour",)), state=state)
        expect(
            "files with links outside",
            sorted(session.hard_links),
            [os.fsencode(folder / "alias") for folder in folders],
        )
