"""POLICY-REAL: long names, chains of links in denies, and files in the middle of a path."""

from __future__ import annotations

from typing import Any

import pytest

from boxspec.api import expect, requires
from contracts.policy.api import PAGE_AND_KEY, Tree, one_profile, question, questions
from contracts.policy.client import PolicyCase

# NAME_MAX of Linux and macOS, in bytes.
LONGEST = 255
# A path of 4,095 bytes, which is PATH_MAX of Linux without the NUL, and a path of 4,096 bytes. Each
# name in them is short enough.
LONGEST_PATH = "/".join(16 * ["n" * LONGEST])
LONGER_PATH = f"docs/{LONGEST_PATH[4:]}"
TOO_LONG = {
    "the last name": "n" * (LONGEST + 1),
    "a directory": "n" * (LONGEST + 1) + "/x",
    "below a directory": "docs/" + "n" * (LONGEST + 1),
    "in bytes, not in characters": "é" * (LONGEST // 2 + 1),
    "the target of a link": "to-long",
    "the target of a link in the middle": "to-long/x",
    "a directory in the target of a link": "docs/to-below",
    "the whole path": LONGER_PATH,
    "the whole path, in bytes, not in characters": LONGER_PATH.replace("nn", "é", 1),
}


def _tree(case: PolicyCase) -> Tree:
    tree = Tree(case.tmp / "tree")
    tree.make(
        [
            *PAGE_AND_KEY,
            {"path": "to-long", "kind": "link", "target": "n" * (LONGEST + 1)},
            {"path": "docs/to-below", "kind": "link", "target": f"../{'n' * (LONGEST + 1)}/x"},
            {"path": "first", "kind": "link", "target": "second"},
            {"path": "second", "kind": "link", "target": "third"},
            {"path": "third", "kind": "link", "target": "secret"},
            {"path": "docs/up", "kind": "link", "target": "../first"},
            {"path": "to-key", "kind": "link", "target": "docs/up/key"},
            {"path": "absolute", "kind": "link", "target": "{root}/first"},
        ]
    )
    return tree


@requires("POLICY-REAL-09")
@pytest.mark.parametrize("op", ["read", "modify"])
@pytest.mark.parametrize("what", TOO_LONG)
def test_a_name_that_is_too_long_is_not_allowed(case: PolicyCase, what: str, op: str) -> None:
    allowed = [
        "n" * LONGEST,
        "docs/" + "é" * (LONGEST // 2),
        LONGEST_PATH,
        "./" * 4096 + "docs/new",
    ]
    items = case.policy.check_resolved(
        one_profile(["**"], ["**"]),
        str(_tree(case).root),
        questions(op, [TOO_LONG[what], *allowed]),
    )
    found = [item.get("allowed", False) for item in items]
    expect(
        f"decisions about {what}, and about four paths that are not too long",
        found,
        [False, *4 * [True]],
    )


@requires("POLICY-REAL-04")
def test_a_path_below_a_file_is_kept_as_written(case: PolicyCase) -> None:
    policy = one_profile(["**", "!secret/**"], [])
    paths = ["docs/page/x", "docs/page/x/y", "secret/key/x"]
    items = case.policy.check_resolved(policy, str(_tree(case).root), questions("read", paths))
    found = [(item.get("allowed"), item.get("real")) for item in items]
    expect(
        "`allowed` and `real` of each path",
        found,
        list(zip([True, True, False], paths, strict=True)),
    )


# Denies through two or more links; each leads to secret/key.
CHAINS = ["first/**", "first/key", "docs/up/**", "docs/up/k*", "to-key", "absolute/key"]
# For each list that may contain a deny: a function that makes a policy with the deny in this list.
LISTS = {
    "denyRead": lambda deny: one_profile(["**"], ["**"], [deny], []),
    "denyModify": lambda deny: one_profile(["**"], ["**"], [], [deny]),
    "read": lambda deny: one_profile(["**", f"!{deny}"], ["**"]),
    "modify": lambda deny: one_profile(["**"], ["**", f"!{deny}"]),
}


@requires("POLICY-REAL-08")
@pytest.mark.parametrize("deny", CHAINS)
@pytest.mark.parametrize("where", LISTS)
def test_a_deny_through_several_links_holds_in_each_list(
    case: PolicyCase, where: str, deny: str
) -> None:
    policy: Any = LISTS[where](deny)
    op = "read" if "ead" in where else "modify"
    checks = [question(op, path) for path in ("secret/key", "docs/page")]
    items = case.policy.check_resolved(policy, str(_tree(case).root), checks)
    found = [(item.get("allowed"), item.get("matched_rule")) for item in items]
    expect("decisions about secret/key and docs/page", found, [(False, deny), (True, "**")])


@requires("POLICY-REAL-08")
@pytest.mark.parametrize("deny", ["first/KEY", "docs/up/K*", "third/Key"])
def test_a_deny_through_links_holds_with_folding(case: PolicyCase, deny: str) -> None:
    policy = one_profile(["**"], [], [deny], [])
    items = case.policy.check_resolved(
        policy, str(_tree(case).root), questions("read", ["secret/key", "docs/page"]), case="fold"
    )
    found = [(item.get("allowed"), item.get("matched_rule")) for item in items]
    expect("decisions about secret/key and docs/page", found, [(False, deny), (True, "**")])
