"""POLICY-REAL: the real path of a file after all links are followed."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from boxspec.api import expect, requires
from contracts.policy.api import (
    PAGE_AND_KEY,
    Group,
    Tree,
    judge,
    judge_decisions,
    many_rules,
    one_profile,
    oracle,
    question,
    questions,
    refused,
    vectors,
)
from contracts.policy.client import PolicyCase


@vectors("POLICY-REAL")
def test_the_vectors_are_answered(case: PolicyCase, group: Group) -> None:
    judge(case, group)


NAMES = ["a", "b", "c", "d"]
# Rules for a literal path, and rules for the paths below a folder. The folder itself is never
# checked.
DENIES = ["a/b/c", "b/d", "c/a"]


def grow(tree: Tree, chance: random.Random) -> None:
    """Create folders with links: up, down, outside, dangling, absolute and relative ones."""
    folders = ["."]
    for _ in range(2):
        folders += [f"{folder}/{name}" for folder in folders[-4:] for name in NAMES[:3]]
    for folder in dict.fromkeys(folders[1:]):
        tree.place(folder).mkdir(parents=True, exist_ok=True)
    (tree.outside / "a").mkdir()
    for number in range(30):
        folder, other = chance.choice(folders), chance.choice(folders)
        up = os.path.relpath(tree.place(other), tree.place(folder))
        target = chance.choice(
            [
                up,
                f"{up}/{chance.choice(NAMES)}",
                f"{{root}}/{other}",
                "{outside}/a",
                "../../../outside",
                f"missing/{chance.choice(NAMES)}",
                chance.choice(NAMES),
            ]
        )
        tree.link(f"{folder}/l{number}", target)


def walk(tree: Tree) -> Iterator[str]:
    for place, folders, files in os.walk(tree.root):
        for name in (*folders, *files):
            path = Path(place, name).relative_to(tree.root)
            yield str(path)
            if Path(place, name).is_symlink():
                yield from (f"{path}/{below}" for below in ("a", "b/c", "missing"))


def real_of(path: Path) -> Path | None:
    """Return the real place of a path as Python finds it; None if links form a loop."""
    try:
        return Path(path).resolve(strict=False)
    except (OSError, RuntimeError):
        return None


@requires("POLICY-REAL-01", "POLICY-REAL-02", "POLICY-REAL-04", "POLICY-REAL-07")
def test_a_random_tree_is_decided_by_its_real_locations(case: PolicyCase) -> None:
    tree = Tree(case.tmp / "tree")
    grow(tree, random.Random(case.session.seed))
    rules = [*DENIES, *(f"{rule}/**" for rule in DENIES)]
    policy = one_profile(["**"], [], rules, rules)
    paths = sorted(set(walk(tree)))
    items = case.policy.check_resolved(
        policy, str(tree.root), [question("read", path) for path in paths]
    )
    wrong = []
    for path, item in zip(paths, items, strict=True):
        place = real_of(tree.root / path)
        if place is None:
            wanted: object = (False, "a loop")
            got: object = (bool(item.get("allowed")), "a loop")
        elif not place.is_relative_to(tree.root):
            lexical = oracle.decide(["**"], rules, path)
            wanted = (
                False,
                None,
                "<outside workspace>" if lexical.allowed else lexical.matched_rule,
            )
            got = (item.get("allowed"), item.get("real"), item.get("matched_rule"))
        else:
            real = str(place.relative_to(tree.root))
            decisions = [oracle.decide(["**"], rules, each) for each in (path, real)]
            wanted = (all(each.allowed for each in decisions), real)
            got = (item.get("allowed"), item.get("real"))
        if got != wanted:
            wrong.append(f"{path} -> {place}: expected {wanted}, got {item}")
    expect(
        "paths with an answer that differs from their real location",
        wrong,
        [],
        {"asked": len(paths)},
    )


@requires("POLICY-REAL-01")
def test_no_allowed_path_leads_to_a_denied_file(case: PolicyCase) -> None:
    """Open each allowed path. The inode shows which file the kernel has reached."""
    tree = Tree(case.tmp / "tree")
    tree.make(
        [
            {"path": "secret", "kind": "dir"},
            {"path": "open", "kind": "dir"},
            {"path": "secret/key", "kind": "file"},
            {"path": "open/note", "kind": "file"},
            {"path": "open/key", "kind": "link", "target": "../secret/key"},
            {"path": "open/door", "kind": "link", "target": "../secret"},
            {"path": "open/same", "kind": "link", "target": "note"},
            {"path": "way", "kind": "link", "target": "open/door"},
        ]
    )
    denied = tree.place("secret/key").stat().st_ino
    rules = ["secret", "secret/key"]
    policy = one_profile(["**"], [], rules, rules)
    paths = ["secret/key", "open/key", "open/door/key", "way/key", "open/note", "open/same"]
    items = case.policy.check_resolved(
        policy, str(tree.root), [question("read", path) for path in paths]
    )
    opened = {
        path: tree.place(path).stat().st_ino == denied
        for path, item in zip(paths, items, strict=True)
        if not refused(item, path) and item["allowed"]
    }
    expect(
        "allowed paths, and whether opening them opens the denied file",
        opened,
        {"open/note": False, "open/same": False},
        {"answers": items},
    )


@requires("POLICY-REAL-01")
def test_a_link_that_changed_since_the_last_check_is_read_again(case: PolicyCase) -> None:
    tree = Tree(case.tmp / "tree")
    places = [("open", "dir"), ("secret", "dir"), ("open/note", "file"), ("secret/note", "file")]
    tree.make([{"path": path, "kind": kind} for path, kind in places])
    policy = one_profile(["**", "!secret/**"], [])
    paths = ["open/link", "way/note"]

    def allowed(target: str) -> list[bool]:
        """Return the decisions after both links were changed so that they lead to this folder."""
        for link in (tree.place("open/link"), tree.place("way")):
            link.unlink(missing_ok=True)
        tree.link("open/link", f"../{target}/note")
        tree.link("way", target)
        items = case.policy.check_resolved(policy, str(tree.root), questions("read", paths))
        return [not refused(each, "the check") and each["allowed"] for each in items]

    turns = ["open", "secret", "open", "secret"]
    told = {f"{at}: {target}": allowed(target) for at, target in enumerate(turns)}
    right = {f"{at}: {target}": [target == "open"] * 2 for at, target in enumerate(turns)}
    expect("decisions while a link changes between two targets", told, right)


@requires("POLICY-REAL-01")
def test_many_rules_of_two_files_decide_about_missing_paths(case: PolicyCase) -> None:
    tree = Tree(case.tmp / "tree")
    made = many_rules.many_rules(random.Random(case.session.seed), 70)
    checks = questions("modify", made.paths)
    items = case.policy.check_resolved(made.policy, str(tree.root), checks)
    judge_decisions(case, items, made.wanted(), 70)


DENIES_OF_LINKS = [
    "link/**",
    "to-key",
    "docs/up/key",
    "link/k*",
    "docs/up/*",
    "docs/top/secret/key",
    # The link leads to the root itself.
    "docs/top/s*/key",
    "docs/top/**/key",
    "docs/top/secre?/*",
    "here/*/key",
]


@requires("POLICY-REAL-08")
@pytest.mark.parametrize("deny", DENIES_OF_LINKS)
def test_a_deny_of_a_link_denies_the_place_it_leads_to(case: PolicyCase, deny: str) -> None:
    tree = Tree(case.tmp / "tree")
    tree.make(
        [
            *PAGE_AND_KEY,
            {"path": "link", "kind": "link", "target": "secret"},
            {"path": "to-key", "kind": "link", "target": "{root}/secret/key"},
            {"path": "docs/up", "kind": "link", "target": "../secret"},
            {"path": "docs/top", "kind": "link", "target": ".."},
            {"path": "here", "kind": "link", "target": "."},
        ]
    )
    policy = one_profile(["**"], [], [deny], [])
    items = case.policy.check_resolved(
        policy, str(tree.root), questions("read", ["secret/key", "docs/page"])
    )
    answers = [(item.get("allowed"), item.get("matched_rule")) for item in items]
    expect("decisions about secret/key and docs/page", answers, [(False, deny), (True, "**")])


@requires("POLICY-REAL-08")
def test_a_deny_of_a_link_keeps_its_place_in_the_list(case: PolicyCase) -> None:
    tree = Tree(case.tmp / "tree")
    tree.make(
        [
            {"path": "secret", "kind": "dir"},
            {"path": "link", "kind": "link", "target": "secret"},
            {"path": "self", "kind": "link", "target": "self"},
            {"path": "out", "kind": "link", "target": "{outside}"},
        ]
    )
    policy = one_profile(["**", "!link/**", "!self/**", "!out/**", "secret/key"], [])
    items = case.policy.check_resolved(
        policy, str(tree.root), questions("read", ["secret/key", "secret/other", "docs"])
    )
    expect(
        "decisions about secret/key, secret/other and docs",
        [(item.get("allowed"), item.get("matched_rule")) for item in items],
        [(True, "secret/key"), (False, "link/**"), (True, "**")],
    )


def reached_twice(case: PolicyCase) -> tuple[Tree, Path]:
    """Create a workspace with links in it, and a link above the root through which the root is
    reached too."""
    tree = Tree(case.tmp / "tree")
    (case.tmp / "way").symlink_to(tree.root.parent)
    other = case.tmp / "way" / tree.root.name
    tree.make(
        [
            *PAGE_AND_KEY,
            {"path": "docs/by-root", "kind": "link", "target": "{root}/docs/page"},
            {"path": "docs/by-way", "kind": "link", "target": f"{other}/docs/page"},
            {"path": "docs/to-key", "kind": "link", "target": f"{other}/secret/key"},
            {"path": "docs/out", "kind": "link", "target": f"{other}/../outside"},
        ]
    )
    return tree, other


@requires("POLICY-REAL-02")
@pytest.mark.parametrize("given", ["as it lies", "through a link"])
def test_a_path_inside_is_inside_however_the_root_is_named(case: PolicyCase, given: str) -> None:
    tree, other = reached_twice(case)
    root = str(tree.root if given == "as it lies" else other)
    policy = one_profile(["**"], [], ["secret/**"], ["secret/**"])
    paths = ["docs/page", "docs/by-root", "docs/by-way", "docs/to-key", "docs/out"]
    checks = [question("read", path) for path in paths]
    items = case.policy.check_resolved(policy, root, checks)
    got = {
        path: (item.get("allowed"), item.get("real"))
        for path, item in zip(paths, items, strict=True)
    }
    wanted: dict[str, object] = dict.fromkeys(paths[:3], (True, "docs/page"))
    wanted |= {"docs/to-key": (False, "secret/key"), "docs/out": (False, None)}
    expect(
        f"`allowed` and `real` of each path, with the root given {given}",
        got,
        wanted,
        {"root": root},
    )


@requires("POLICY-REAL-03")
def test_an_absolute_path_is_inside_however_it_is_written(case: PolicyCase) -> None:
    tree, other = reached_twice(case)
    policy = one_profile(["**"], [], ["secret/**"], ["secret/**"])
    ways = [str(other), str(tree.root)]
    checks = [question("read", f"{way}/docs/page") for way in ways]
    items = case.policy.check_resolved(policy, ways[0], checks)
    got = [(item.get("allowed"), item.get("real")) for item in items]
    expect(
        "`allowed` and `real` of each path, by the root's two names", got, [(True, "docs/page")] * 2
    )
