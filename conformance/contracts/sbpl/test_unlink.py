"""SBPL-UNLINK: a path that must not be read must not be renamed."""

from __future__ import annotations

import random

import pytest

from boxspec.api import expect, one_of, requires
from contracts.sbpl import kit as sbpl
from contracts.sbpl.client import SbplCase
from contracts.sbpl.kit import Setup

UNLINK = (sbpl.UNLINK,)


@requires("SBPL-UNLINK-01")
@pytest.mark.parametrize("rule", ["k", "k/**", "a/k", "**/*.env", "a/**/k", "a/*.c"])
@pytest.mark.parametrize("own", [True, False], ids=["own rule", "global deny"])
def test_a_read_denied_path_cannot_be_unlinked(case: SbplCase, rule: str, own: bool) -> None:
    reads = Setup(read=["**", f"!{rule}"]) if own else Setup(deny_read=[rule])
    text = case.sbpl.compiled(reads.but(modify=["**"]))
    path = rule.replace("**/*", "x").replace("/**/", "/x/").replace("*", "x").removesuffix("/xx")
    text.expect("decisions about unlinking", sbpl.both(["b", "b/x"], [path]), UNLINK)
    text.expect("decisions about writing", sbpl.both([path, "b"], ["/Users/u/x"]))


@requires("SBPL-UNLINK-01")
def test_a_path_that_is_readable_again_stays_protected(case: SbplCase) -> None:
    text = case.sbpl.compiled(Setup(modify=["**"], read=["**", "!a/**", "a/b"]))
    text.expect("decisions about unlinking", sbpl.both(["b"], ["a", "a/b", "a/x"]), UNLINK)


@requires("SBPL-UNLINK-01")
@pytest.mark.parametrize("rule", ["a/b", "a/b/**", "a/*.c"])
def test_a_path_that_an_equal_rule_allows_again_stays_protected(case: SbplCase, rule: str) -> None:
    text = case.sbpl.compiled(Setup(modify=["**"], read=["**", f"!{rule}", rule]))
    path = rule.replace("*.c", "x.c").removesuffix("/**")
    text.expect("decisions about unlinking", sbpl.both(["b"], [path]), UNLINK)


ABOVE = {
    "a literal": ("a/b/k", ["a", "a/b"]),
    "a subtree": ("a/b/k/**", ["a", "a/b", "a/b/k"]),
    "a glob": ("a/b/*.env", ["a", "a/b"]),
    "a glob of directories": ("a/b/**/k", ["a", "a/b"]),
    "a wildcard in the middle": ("a/*/b/k", ["a"]),
}


@requires("SBPL-UNLINK-01")
def test_a_read_denied_path_in_a_side_root_cannot_be_unlinked(case: SbplCase) -> None:
    """Protect a path in a side root by a rule that begins with a wildcard.

    Such a rule has no fixed place, so it never overlaps a side root.
    """
    given = Setup(modify=["src/**"], deny_read=["**/*.env"], provider="codex")
    text = case.sbpl.compiled(given.but(side_roots=["/Users/u/ws/out", "/opt/side"]))
    yes = ["src/x", "out/x", "out/x.envy", "/opt/side/x.env"]
    text.expect(
        "decisions about unlinking",
        sbpl.both(yes, ["src/x.env", "out/x.env", "out/a/.env"]),
        UNLINK,
    )
    text.expect("decisions about writing", sbpl.both(["out/x.env"], ["x.env"]))


@requires("SBPL-UNLINK-02")
@pytest.mark.parametrize("name", ABOVE)
def test_an_ancestor_of_a_read_denied_path_cannot_be_unlinked(case: SbplCase, name: str) -> None:
    rule, above = ABOVE[name]
    text = case.sbpl.compiled(Setup(modify=["**"], deny_read=[rule]))
    text.expect("decisions about unlinking", sbpl.both(["x", "a/x", "a2", "."], above), UNLINK)
    text.expect("decisions about writing", sbpl.both(above, ["/Users/u/x"]))


@requires("SBPL-UNLINK-02")
@pytest.mark.parametrize("depth", [8, 16, 17, 32, 33, 64, 65, 100])
def test_ancestors_are_guarded_however_deep(case: SbplCase, depth: int) -> None:
    above = ["/".join(["d"] * count) for count in range(1, depth + 1)]
    text = case.sbpl.compiled(Setup(modify=["**"], deny_read=[f"{above[-1]}/k"]))
    text.expect("decisions about unlinking", sbpl.both(["x", f"{above[-1]}/x"], above), UNLINK)


@requires("SBPL-UNLINK-02")
def test_ancestors_are_guarded_below_the_root_of_the_system(case: SbplCase) -> None:
    text = case.sbpl.compiled(Setup(modify=["**"], deny_read=["a/b/k", "c/*.env"], root="/"))
    no = ["a", "a/b", "a/b/k", "c", "c/x.env"]
    text.expect("decisions about unlinking", sbpl.both(["x", "a/x", "a/b/x", "c/x"], no), UNLINK)


@requires("SBPL-UNLINK-02")
def test_each_rule_guards_its_own_ancestors(case: SbplCase) -> None:
    text = case.sbpl.compiled(
        Setup(modify=["**"], read=["**", "!a/k", "a/k/x"], deny_read=["b/c/**"])
    )
    text.expect("decisions about unlinking", sbpl.both(["a/x", "b/x", "c"], ["a", "b"]), UNLINK)


@requires("SBPL-UNLINK-03")
def test_everything_else_can_be_unlinked_where_it_can_be_modified(case: SbplCase) -> None:
    denies = ["a/d", "a/e/d"]
    text = case.sbpl.compiled(Setup(modify=["a/**"], deny_modify=denies, deny_read=["a/b/k"]))
    yes = ["a/x", "a/b/x", "a/b/kx", "a/bc", "a/e"]
    text.expect(
        "decisions about unlinking", sbpl.both(yes, [".", "x", "a/d", "/Users/u/x"]), UNLINK
    )


@requires("SBPL-UNLINK-03")
def test_each_path_can_be_unlinked_as_the_policy_means(case: SbplCase) -> None:
    chance = random.Random(case.session.seed)
    for _ in range(sbpl.times(24)):
        reads, denies = sbpl.rules(chance, 3), sbpl.rules(chance, 2, denies=0)
        denies = [deny for deny in denies if deny != "**"]
        given = Setup(modify=["**"], read=["**", *sbpl.without(reads, denies)], deny_read=denies)
        paths = [sbpl.absolute(given, path) for path in sbpl.paths(chance, given, 25)]
        meant = sbpl.Meaning(given).may_unlink
        sbpl.same_as_meant("unlinking", case.sbpl.compiled(given), meant, paths, UNLINK)


@requires("SBPL-UNLINK-04")
def test_rules_that_begin_with_a_wildcard_are_named(case: SbplCase) -> None:
    denies = ["k/**", "**/*.env", "a/*.c", "*/x", "b"]
    text = case.sbpl.compiled(Setup(read=["**", "!**/own"], deny_read=denies))
    named = [rule.removeprefix("!") for rule in text.unguarded or ()]
    expect("`unguarded` of the answer", sorted(named), sorted(["**/*.env", "*/x", "**/own"]))
    allowed = Setup(read=["**/a", "!b", "*/c", "!**/own", "**/own/d", "!."])
    text = case.sbpl.compiled(allowed)
    named = [rule.removeprefix("!") for rule in text.unguarded or ()]
    expect("`unguarded`, with rules that allow and the rule `!.`", named, ["**/own"])
    asked = case.sbpl.compiled(Setup(deny_read=["?/k", "?x/**", "a?/k/x", "b/?"]))
    named = [rule.removeprefix("!") for rule in asked.unguarded or () if rule[:1] != "a"]
    expect("rules in `unguarded` that begin with a question mark", sorted(named), ["?/k", "?x/**"])
    guarded = case.sbpl.compiled(Setup(deny_read=["k/**", "a/*.c"]))
    expect("`unguarded` of the answer", guarded.unguarded, one_of([[], None]))
