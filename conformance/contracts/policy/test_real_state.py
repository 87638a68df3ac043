"""POLICY-REAL: links that change, several denies through links, and directories without access."""

from __future__ import annotations

import pytest

from boxspec.api import expect, requires
from contracts.policy.api import PAGE_AND_KEY, Tree, one_profile, question, questions
from contracts.policy.client import Item, PolicyCase

PATHS = ["secret/key", "docs/page"]


def allowed(items: list[Item]) -> list[bool | None]:
    return [item.get("allowed") for item in items]


def tree_with(case: PolicyCase, name: str, **links: str) -> Tree:
    """Return a tree with docs/page and secret/key, and these links at its top."""
    tree = Tree(case.tmp / name)
    made = [{"path": path, "kind": "link", "target": target} for path, target in links.items()]
    tree.make([*PAGE_AND_KEY, *made])
    return tree


@requires("POLICY-REAL-08")
@pytest.mark.parametrize(
    "denies", [["one/**", "two"], ["two", "one/**"], ["two", "**/x", "one/k*"]]
)
def test_each_of_several_denies_through_links_holds(case: PolicyCase, denies: list[str]) -> None:
    tree = tree_with(case, "tree", one="secret", two="docs/page")
    policy = one_profile(["**"], [], denies, [])
    items = case.policy.check_resolved(policy, str(tree.root), questions("read", [*PATHS, "docs"]))
    expect("decisions about secret/key, docs/page and docs", allowed(items), [False, False, True])


@requires("POLICY-REAL-08")
@pytest.mark.parametrize("deny", ["link/**", "link/*e*", "way"])
def test_a_deny_whose_link_has_changed_holds_for_the_new_place(case: PolicyCase, deny: str) -> None:
    """Check both places while the links of a deny change between them."""
    tree = tree_with(case, "tree")
    policy = one_profile(["**"], [], [deny], [])
    got = []
    for at in (0, 1, 0):
        for name, target in (("link", ("secret", "docs")[at]), ("way", PATHS[at])):
            tree.place(name).unlink(missing_ok=True)
            tree.link(name, target)
        items = case.policy.check_resolved(policy, str(tree.root), questions("read", PATHS))
        got.append(allowed(items))
    expect(
        "decisions about secret/key and docs/page, for links to the first, the second, the first",
        got,
        [[False, True], [True, False], [False, True]],
    )


@requires("POLICY-REAL-08")
def test_a_deny_through_a_link_is_resolved_in_each_root(case: PolicyCase) -> None:
    """Use the same policy in two roots, in which its link leads to different places."""
    trees = [tree_with(case, "a", link="secret"), tree_with(case, "b", link="docs")]
    policy = one_profile(["**"], [], ["link/**"], [])
    got = [
        allowed(case.policy.check_resolved(policy, str(tree.root), questions("read", PATHS)))
        for tree in (*trees, trees[0])
    ]
    expect(
        "decisions about secret/key and docs/page in the roots a, b and a",
        got,
        [[False, True], [True, False], [False, True]],
    )


@requires("POLICY-REAL-01")
@pytest.mark.parametrize("path", ["locked/link", "locked/door/key", "way/link"])
def test_a_path_through_a_directory_without_access_is_not_allowed(
    case: PolicyCase, path: str
) -> None:
    """Check a path to a link in a directory that the shim may not search. The answer may be a deny
    or an error, because the shim cannot know where the link leads."""
    tree = tree_with(case, "tree", way="locked")
    tree.place("locked").mkdir()
    tree.link("locked/link", "../secret/key")
    tree.link("locked/door", "../secret")
    policy = one_profile(["**", "!secret/**"], [])
    checks = [question("read", each) for each in ("docs/page", path)]
    fields = {"policy": policy, "root": str(tree.root), "checks": checks}
    tree.place("locked").chmod(0)
    try:
        answer = case.policy.send(
            {"op": "policy.check_resolved", **fields}, state=["--no-override"]
        )
    finally:
        tree.place("locked").chmod(0o755)
    page, there = answer.result["checks"]
    got = (page.get("allowed"), there.get("allowed", False))
    expect(f"decisions about docs/page and {path}", got, (True, False))
