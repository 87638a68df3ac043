"""POLICY-REAL: spellings of roots and paths, unusual names on disk, and several checks at once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from boxspec.api import expect, requires
from contracts.policy.api import PAGE_AND_KEY, Tree, one_profile, question, questions, refused
from contracts.policy.client import PolicyCase

READ = one_profile(["docs/**", "!secret/**"], [])


def workspace(case: PolicyCase) -> Tree:
    tree = Tree(case.tmp / "tree")
    tree.make(
        [
            *PAGE_AND_KEY,
            {"path": "docs/key", "kind": "link", "target": "../secret/key"},
            {"path": "docs/same", "kind": "link", "target": "{root}/docs/page"},
        ]
    )
    return tree


@requires("POLICY-REAL-05")
def test_each_check_has_its_own_follow(case: PolicyCase) -> None:
    tree = workspace(case)
    asked = [
        question("read", "docs/key", **({"follow": follow} if follow else {}))
        for follow in ("parent", None, "final", "parent", None, "parent", "final")
    ]
    items = case.policy.check_resolved(READ, str(tree.root), asked)
    got = [item.get("allowed") for item in items]
    expect("whether the link may be read", got, [True, False, False, True, False, True, False])


@requires("POLICY-REAL-05", needs=["POLICY-REAL-01"])
@pytest.mark.parametrize("spelled", ["{}", "./{}", "{root}/{}", "{}/"])
def test_the_last_name_is_not_followed_at_any_depth(case: PolicyCase, spelled: str) -> None:
    tree = Tree(case.tmp / "tree")
    folders = ["", "a/", "a/b/", "a/b/c/", "a/b/c/d/"]
    links = [
        {"path": f"{folder}key", "kind": "link", "target": "{root}/secret/key"}
        for folder in folders
    ]
    dirs = [{"path": folder.rstrip("/"), "kind": "dir"} for folder in folders[1:]]
    tree.make([*PAGE_AND_KEY, *dirs, *links])
    policy = one_profile(["**"], [], ["secret/**"])
    paths = [spelled.replace("{root}", str(tree.root)).format(f"{each}key") for each in folders]
    for follow in ("parent", "final"):
        asked = [question("read", path, follow=follow) for path in paths]
        items = case.policy.check_resolved(policy, str(tree.root), asked)
        got = [item.get("allowed") for item in items]
        expect(f"whether {paths} may be read with {follow}", got, [follow == "parent"] * 5)


@requires("POLICY-CHECK-07", capability="policy.resolved")
def test_a_refused_check_does_not_change_other_checks(case: PolicyCase) -> None:
    tree = workspace(case)
    paths: list[str | bytes] = [
        "docs/page",
        "docs/../docs/page",
        "",
        "docs/key",
        b"docs/\xff",
        "~",
        "docs/page",
    ]
    items = case.policy.check_resolved(READ, str(tree.root), questions("read", paths))
    got = [None if "error" in item else item["allowed"] for item in items]
    expect("the decisions, None for an error", got, [True, None, None, False, None, None, True])


@requires("POLICY-PROFILE-01", capability="policy.resolved")
def test_check_resolved_with_an_unknown_profile_is_an_error(case: PolicyCase) -> None:
    tree = workspace(case)
    asked = [question("read", "docs/page", name) for name in ("p", "nobody", "", "p")]
    items = case.policy.check_resolved(READ, str(tree.root), asked)
    got = [refused(item, "policy.check_resolved") for item in items]
    expect("whether each path is refused", got, [False, True, True, False], {"answers": items})


@requires("POLICY-PROFILE-02", capability="policy.resolved")
def test_check_resolved_without_a_profile_is_unrestricted(case: PolicyCase) -> None:
    tree = workspace(case)
    denied = one_profile([], [], ["secret/**"], ["secret/**"])
    paths = ["docs/page", "docs/same", "secret", "docs/key"]
    for name in (None, "unrestricted"):
        asked = [question(op, path, name) for op in ("read", "modify") for path in paths]
        items = case.policy.check_resolved(denied, str(tree.root), asked)
        got = [item.get("allowed") for item in items]
        expect(
            f"decisions about the paths through {name}",
            got,
            [True, True, False, False] * 2,
            {"answers": items},
        )


EXCEPTED = one_profile(["**"], ["**"], [], ["s/**", "!s/c/**"])


@requires("POLICY-REAL-01")
def test_an_exception_holds_for_the_real_location_too(case: PolicyCase) -> None:
    tree = Tree(case.tmp / "excepted")
    files = ["s/k", "s/c/page", "page"]
    links = {"s/c/out": "../k", "s/c/far": "../../page", "in": "s/c/page", "s/in": "c/page"}
    tree.make(
        [{"path": path, "kind": "dir"} for path in ("s", "s/c")]
        + [{"path": path, "kind": "file"} for path in files]
        + [{"path": path, "kind": "link", "target": links[path]} for path in links]
    )
    wanted = {"s/c/page": True, "s/c/out": False, "s/c/far": True, "in": True, "s/in": False}
    items = case.policy.check_resolved(EXCEPTED, str(tree.root), questions("modify", wanted))
    got = {path: item.get("allowed") for path, item in zip(wanted, items, strict=True)}
    expect("paths that may be modified", got, wanted, {"answers": items})


WRITTEN = ["{}/", "{}//", "{}/.", "{above}//{name}", "{above}/./{name}/"]


@requires("POLICY-REAL-03")
@pytest.mark.parametrize("given", WRITTEN)
def test_a_root_is_one_place_however_it_is_written(case: PolicyCase, given: str) -> None:
    tree = workspace(case)
    root = given.format(tree.root, above=tree.root.parent, name=tree.root.name)
    paths = ["docs/page", f"{tree.root}/docs/page", f"{tree.root}/docs/same", f"{tree.root}x/docs"]
    items = case.policy.check_resolved(READ, root, questions("read", paths))
    got = [(item.get("allowed"), item.get("real")) for item in items]
    expect("`allowed` and `real` of each path", got, [(True, "docs/page")] * 3 + [(False, None)])


@requires("POLICY-REAL-03")
def test_an_absolute_path_with_doubled_slashes_and_dots_is_inside(case: PolicyCase) -> None:
    tree = workspace(case)
    above, name = tree.root.parent, tree.root.name
    ways = [f"{above}/{name}//docs/page", f"{above}//{name}/docs/page", f"{tree.root}/./docs/page"]
    ways += [f"{above}/./{name}/docs//page/", f"{tree.root}/docs/page/."]
    items = case.policy.check_resolved(READ, str(tree.root), questions("read", ways))
    got = [(item.get("allowed"), item.get("path"), item.get("real")) for item in items]
    expect(
        "`allowed`, `path` and `real` of each check",
        got,
        [(True, "docs/page", "docs/page")] * len(ways),
    )


@requires("POLICY-REAL-02", "POLICY-REAL-03")
def test_below_the_root_of_the_system_everything_is_inside(case: PolicyCase) -> None:
    tree = workspace(case)
    place = Path(os.path.realpath(tree.root)).relative_to("/")
    policy = one_profile([f"{place}/**", f"!{place}/secret/**"], [])
    names = ["docs/page", "docs/same", "docs/key"]
    paths = [*(f"{place}/{name}" for name in names), *(f"/{place}/{name}" for name in names)]
    items = case.policy.check_resolved(policy, "/", questions("read", paths))
    got = [(item.get("allowed"), item.get("real")) for item in items]
    one = [(True, f"{place}/docs/page")] * 2 + [(False, f"{place}/secret/key")]
    expect("`allowed` and `real` of each path", got, one * 2)


# Targets of a link: a name that no path may have, and the name that a tolerant engine would use in
# its place.
STRANGE = {
    "no text": (b"\xff", "\ufffd"),
    "no text below what is denied": (b"secret/\xff", "docs"),
    "a backslash": (b"a\\b", "a/b"),
    "a backslash below what is denied": (b"secret/a\\b", "docs"),
    "a blank at its end": (b"k ", "k"),
    "a blank in front": (b" k", "k"),
    "a blank at the end below what is denied": (b"secret/k ", "docs"),
}


@requires("POLICY-REAL-01")
@pytest.mark.parametrize("name", STRANGE)
def test_a_location_without_a_valid_path_is_not_confused_with_another(
    case: PolicyCase, name: str
) -> None:
    """Check a path that is denied or an error, together with a path that is allowed."""
    tree = workspace(case)
    target, mended = STRANGE[name]
    tree.place(os.fsdecode(target)).touch()
    tree.place("docs/strange").symlink_to(os.fsdecode(b"../" + target))
    policy = one_profile(["docs/**", mended, "!secret/**"], [])
    items = case.policy.check_resolved(
        policy, str(tree.root), questions("read", ["docs/strange", "docs/same"])
    )
    got = [item.get("allowed", False) for item in items]
    expect("whether the targets of the links may be read", got, [False, True], {"answers": items})
