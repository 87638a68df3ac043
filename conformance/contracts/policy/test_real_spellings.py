"""POLICY-REAL: spellings of paths, and links that lead to the root or around it."""

from __future__ import annotations

import pytest

from boxspec.api import expect, requires
from contracts.policy.api import PAGE_AND_KEY, Tree, one_profile, question, questions, refused
from contracts.policy.client import PolicyCase
from contracts.shared.documents import policy

LINKS = {
    # Links that leave the root and come back.
    "back": "../root/docs",
    "docs/back": "../../root/docs/page",
    "far": "{outside}/../root/docs",
    "beside": "../outside/../root/docs/page",
    "through": "../outside/in",
    # Links to the root itself.
    "here": ".",
    "docs/up": "..",
    "top": "{root}",
    "around": "../root",
    "to-page": "docs/page",
    "to-key": "secret/key",
    # Links with names that a glob, a shell or a list of hidden files treats in another way.
    **dict.fromkeys(
        (".link", "..link", "-link", "li nk", "l\nk", "*", "?", "[l]", "é", "~link"), "docs"
    ),
}


def _tree(case: PolicyCase) -> Tree:
    tree = Tree(case.tmp / "tree")
    tree.make(PAGE_AND_KEY)
    (tree.outside / "in").symlink_to(tree.root / "docs")
    for path, target in LINKS.items():
        tree.link(path, target)
    return tree


# Paths of the file docs/page and of the root, by these links.
LEAD = {
    **dict.fromkeys(
        (
            *("back/page", "docs/back", "far/page", "beside", "through/page", "here/docs/page"),
            *("docs/up/docs/page", "top/docs/page", "around/docs/page", "here/top/around/to-page"),
        ),
        "docs/page",
    ),
    **dict.fromkeys(
        (f"{path}/page" for path, target in LINKS.items() if target == "docs"), "docs/page"
    ),
    **dict.fromkeys(("here", "docs/up", "top", "around", "here/around/top", "docs/up/here"), "."),
}


@requires("POLICY-REAL-07")
def test_a_link_may_lead_around_the_root_and_back(case: PolicyCase) -> None:
    tree = _tree(case)
    rules = one_profile(["**"], [], ["secret/**"], ["secret/**"])
    items = case.policy.check_resolved(rules, str(tree.root), questions("read", LEAD))
    found = {
        path: (item.get("allowed"), item.get("real"))
        for path, item in zip(LEAD, items, strict=True)
    }
    wanted = {path: (True, real) for path, real in LEAD.items()}
    expect("`allowed` and `real` of each path", found, wanted)


LAST = ("to-key", "to-key/", "to-key//", "to-key/.", "./to-key/./", "here/to-key/.", "top//to-key/")


@requires("POLICY-REAL-05")
def test_no_spelling_of_a_last_component_is_followed(case: PolicyCase) -> None:
    tree = _tree(case)
    rules = one_profile(["**"], [], ["secret/**"], ["secret/**"])
    checks = [question("read", path, follow="parent") for path in LAST]
    items = case.policy.check_resolved(rules, str(tree.root), checks)
    found = [(item.get("allowed"), item.get("real")) for item in items]
    expect("`allowed` and `real` of each spelling", found, [(True, "to-key")] * len(LAST))


# Absolute paths below the root that are refused like relative ones.
REFUSED = {
    "a backslash": "{root}/docs\\page",
    "a backslash for a slash": "{root}\\docs/page",
    "a blank at the end": "{root}/docs/page ",
    "a tab at the end": "{root}/docs/page\t",
    "a blank before a dot": "{root}/docs/page /.",
    "two dots": "{root}/docs/../docs/page",
    "two dots at the end": "{root}/docs/..",
    "two dots in the root": "{root}/../root/docs/page",
    "two dots at the start": "/..{root}/docs/page",
    "a NUL": "{root}/docs/page\0",
}


@requires("POLICY-REAL-03", needs=["POLICY-REAL-01"])
def test_an_absolute_path_is_refused_like_a_relative_one(case: PolicyCase) -> None:
    tree = _tree(case)
    rules = one_profile(["**"], [], ["secret/**"], ["secret/**"])
    paths = [path.replace("{root}", str(tree.root)) for path in REFUSED.values()]
    plain = f"{tree.root}/docs/page"
    items = case.policy.check_resolved(
        rules, str(tree.root), questions("read", [*paths, plain, f"{tree.root}/.//docs/./page/"])
    )
    accepted = [what for what, item in zip(REFUSED, items, strict=False) if not refused(item, what)]
    expect("paths that are not refused", accepted, [])
    found = [(item.get("allowed"), item.get("real")) for item in items[-2:]]
    expect("`allowed` and `real` of two other spellings", found, [(True, "docs/page")] * 2)


ALL = {"p": {"read": ["**"], "modify": ["**"]}}


@requires("POLICY-REAL-08")
@pytest.mark.parametrize("op", ["read", "modify"])
@pytest.mark.parametrize("file", ["global", "workspace"])
def test_a_deny_of_a_link_counts_in_both_files(case: PolicyCase, file: str, op: str) -> None:
    tree = _tree(case)
    name = "denyRead" if op == "read" else "denyModify"
    own = {name: ["to-key"]}
    base = {"fsProfiles": ALL} | (own if file == "global" else {})
    rules = policy(base, own if file == "workspace" else {})
    items = case.policy.check_resolved(
        rules, str(tree.root), questions(op, ["secret/key", "docs/page"])
    )
    found = [(item.get("allowed"), item.get("matched_rule")) for item in items]
    expect("decisions about secret/key and docs/page", found, [(False, "to-key"), (True, "**")])
