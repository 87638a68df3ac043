"""Rules about files of any kind and name, several rules at once, and traces of a preparation."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from boxspec.api import Verdict, expect, requires
from boxspec.subject.observe.inotify import Inotify
from contracts.backend.attempt import WORK
from contracts.backend.client import BackendCase
from contracts.backend.ground import CANARY, made_ground
from contracts.backend.ruled import (
    expect_made,
    expect_unchanged,
    line_inside,
    named_in_a_profile,
    policy,
)

RULES = "backend.policy"
NEEDS = [WORK, "BACKEND-CONTEXT-01"]
CREATE, DELETE = 0x100, 0x200


def _file(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(CANARY)


def _closed_file(path: Path) -> None:
    _file(path)
    path.chmod(0)


# Paths of the root, and how each is made.
KINDS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "an empty file": ("empty", Path.touch),
    "an empty directory": ("empty", Path.mkdir),
    "a file without permissions": ("closed", _closed_file),
    "a file below 40 directories": ("d/" * 40 + "kept", _file),
    "a name of 255 bytes": ("k" * 255, _file),
    "a name that looks like an option": ("--bind", _file),
    "a name with blanks": ("two  words and\ttab", _file),
    "a name with quotes": ('it\'s "kept"', _file),
    "a hidden name": (".#kept", _file),
    "a name in another script": ("ключ", _file),
}
TRIES = """chmod 777 {0}; echo x >{0}; echo x >{0}/new; rm -rf -- ./{0}; mv ./{0} gone; : >neighbour
mkdir -p other"""


@requires("BACKEND-RULE-01", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_denied_path_of_any_kind_stays(case: BackendCase, kind: str) -> None:
    name, make = KINDS[kind]
    with made_ground() as ground:
        make(ground.ws / name)
        ground.watch(ground.ws / name)
        # A rule for the directory alone allows new files in it.
        denied = (name, f"{name}/**") if (ground.ws / name).is_dir() else (name,)
        session = line_inside(case, ground, TRIES.format(shlex.quote(name)), policy(denied))
        expect_unchanged(session, name, ground.changes())
        expect_made(ground.ws / "neighbour", ground.ws / "other")


LATE = {"late": "late", "folder/**": "folder/file", "**/*.key": "x/a.key", "x/*.pem": "x/b.pem"}


@requires("BACKEND-RULE-03", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("way", ["denyModify", "denyRead", "profile"])
def test_each_of_several_rules_holds_or_is_named(case: BackendCase, way: str) -> None:
    """Make names that these rules deny, after the session has started."""
    match way:
        case "denyModify":
            rules = policy(tuple(LATE))
        case "denyRead":
            rules = policy(deny_read=tuple(LATE))
        case _:
            rules = policy(modify=("**", *(f"!{rule}" for rule in LATE)))
    line = "".join(f"mkdir -p $(dirname {name}); echo x >{name}; " for name in LATE.values())
    with made_ground() as ground:
        line += f"cat {' '.join(LATE.values())}" if way == "denyRead" else ":"
        session = line_inside(case, ground, line, rules)
        broken = [rule for rule, name in LATE.items() if (ground.ws / name).is_file()]
        if way == "denyRead" and not session.only.stdout:
            broken = []
        silent = [rule for rule in broken if not named_in_a_profile(session, rule)]
        evidence = {"not_enforced": session.result["not_enforced"]}
        expect(
            "rules that do not hold and are not named",
            silent,
            [],
            evidence,
            verdict=Verdict.CONTRADICTION,
        )


@requires("BACKEND-RULE-12", capability=RULES, needs=NEEDS)
@pytest.mark.parametrize("target", ["missing", "file"])
def test_a_denied_link_gives_no_access_if_its_target_comes_and_goes(
    case: BackendCase, target: str
) -> None:
    with made_ground() as ground:
        (ground.ws / "link").symlink_to(target)
        ground.watch(ground.ws / target)
        line = "echo x >link; rm -f link; echo x >link; : >neighbour"
        session = line_inside(case, ground, line, policy(("link",)))
        changes = ground.changes()
        is_link = (ground.ws / "link").is_symlink()
        expect_unchanged(session, "link", changes or ([] if is_link else ["replaced: link"]))


@requires("BACKEND-RULE-07", needs=[WORK])
def test_files_with_links_outside_are_named_wherever_they_lie(case: BackendCase) -> None:
    names = (".hidden/alias", "x/.y/alias", "two words", "d/" * 40 + "alias", ".alias")
    with made_ground() as ground:
        for name in names:
            path = ground.ws / name
            path.parent.mkdir(parents=True, exist_ok=True)
            os.link(ground.out / "file", path)
        session = line_inside(case, ground, "true", policy(("neighbour",)))
        wanted = sorted(os.fsencode(ground.ws / name) for name in names)
        expect("files with links outside", sorted(session.hard_links), wanted)


@requires("BACKEND-RULE-07", needs=[WORK])
def test_files_with_links_outside_are_named_whatever_their_number(case: BackendCase) -> None:
    with made_ground() as ground:
        aliases = [ground.ws / f"alias-{number}" for number in range(300)]
        for alias in aliases:
            os.link(ground.out / "file", alias)
        session = line_inside(case, ground, "true", policy(("neighbour",)))
        missing = {os.fsencode(alias) for alias in aliases} - {*session.hard_links}
        expect("files with links outside that are not named", sorted(missing)[:3], [])


@requires("BACKEND-RULE-04", capability=RULES, needs=NEEDS)
def test_no_file_is_made_in_the_root_not_even_for_a_moment(case: BackendCase) -> None:
    with made_ground() as ground:
        (ground.ws / "dir").mkdir()
        watch = Inotify()
        try:
            for path in (ground.ws, ground.ws / "dir"):
                watch.watch(str(path), CREATE | DELETE)
            rules = policy(("late", "dir/late", "dir/**", "**/*.key"), deny_read=("dir/secret",))
            line_inside(case, ground, "true", rules)
            made = sorted({name for _, _, name in watch.read()})
        finally:
            watch.close()
        expect("names that were made or removed in the root", made, [])
