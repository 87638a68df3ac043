"""SBPL-MODIFY: below the root, a text decides about writing as its policy does."""

from __future__ import annotations

import random

import pytest

from boxspec.api import requires
from contracts.sbpl import kit as sbpl
from contracts.sbpl.client import SbplCase
from contracts.sbpl.kit import Setup


@requires("SBPL-MODIFY-01")
def test_a_path_that_the_policy_denies_is_denied(case: SbplCase) -> None:
    text = case.sbpl.compiled(Setup(modify=["**"], deny_modify=["k/**", "lib/x"]))
    text.expect("decisions under global denies", sbpl.both(["a", "lib/y"], ["k", "k/a", "lib/x"]))


@requires("SBPL-MODIFY-01")
def test_a_path_that_no_rule_matches_is_denied(case: SbplCase) -> None:
    text = case.sbpl.compiled(Setup(modify=["src/**"]))
    text.expect("unmatched", sbpl.both(["src/a"], ["a", "lib/src/a"]))


@requires("SBPL-MODIFY-01")
def test_the_last_rule_that_matches_wins(case: SbplCase) -> None:
    rules = ["**", "!a/**", "a/b/**", "!a/b/c/**", "a/b/c/d/**"]
    text = case.sbpl.compiled(Setup(modify=rules))
    yes = ["x", "a/b", "a/b/x", "a/b/c/d", "a/b/c/d/x"]
    text.expect("decisions by nested rules", sbpl.both(yes, ["a", "a/x", "a/b/c", "a/b/c/x"]))
    turned = case.sbpl.compiled(Setup(modify=["a/b/**", "!a/**", "c/**"]))
    turned.expect(
        "decisions by the rules in the reverse order", sbpl.both(["c/x"], ["a/b", "a/b/x", "a/x"])
    )


@requires("SBPL-MODIFY-01")
def test_a_rule_that_comes_again_decides_again(case: SbplCase) -> None:
    rules = ["a/**", "!a/b/**", "a/**", "c/**", "!c/d", "c/d", "!c/d"]
    text = case.sbpl.compiled(Setup(modify=rules))
    text.expect(
        "decisions by repeated rules", sbpl.both(["a", "a/b", "a/b/x", "c/x"], ["c/d", "x"])
    )


@requires("SBPL-MODIFY-02")
def test_a_subtree_is_writable_with_its_directory(case: SbplCase) -> None:
    text = case.sbpl.compiled(Setup(modify=["src/**", "a/b/**"]))
    yes = ["src", "src/x", "src/x/y", "a/b", "a/b/x"]
    text.expect("subtrees", sbpl.both(yes, ["a", "a/x", "x"]))


@requires("SBPL-MODIFY-03")
def test_a_denied_subtree_is_denied_with_its_directory(case: SbplCase) -> None:
    text = case.sbpl.compiled(Setup(modify=["**", "!a/b/**"], deny_modify=["src/**"]))
    no = ["src", "src/x", "src/x/y", "a/b", "a/b/x"]
    text.expect(
        "decisions in denied subtrees", sbpl.both(["src2", "src2/x", "sr", "a", "a/bc", "a/x"], no)
    )


@requires("SBPL-MODIFY-04")
@pytest.mark.parametrize("rule", ["**/*.env", "lib/*.env", "**/k.pem", "lib/**/k.pem"])
def test_a_glob_denies_its_matches_and_no_directory(case: SbplCase, rule: str) -> None:
    name = rule.rpartition("/")[2].replace("*", "a")
    text = case.sbpl.compiled(Setup(modify=["**"], deny_modify=[rule]))
    yes = [".", "lib", "lib/x", "lib/a.envy", f"lib/{name}2"]
    text.expect("decisions by a denied glob", sbpl.both(yes, [f"lib/{name}"]))


@requires("SBPL-MODIFY-05")
@pytest.mark.parametrize("rule", ["**/*.env", "lib/*.env", "**/k.pem", "lib/**/k.pem"])
def test_a_glob_allows_its_matches_only(case: SbplCase, rule: str) -> None:
    name = rule.rpartition("/")[2].replace("*", "a")
    text = case.sbpl.compiled(Setup(modify=[rule]))
    no = [".", "lib", "lib/x", f"lib/{name}2", "lib/d/x", f"lib/{name}/x", f"lib/{name}/.env2"]
    text.expect("decisions by an allowed glob", sbpl.both([f"lib/{name}"], no))


@requires("SBPL-MODIFY-06")
def test_a_rule_without_wildcards_is_about_one_path(case: SbplCase) -> None:
    text = case.sbpl.compiled(Setup(modify=["a", "lib/x"]))
    no = ["a/b", "a/b/c", "a2", "lib", "lib/x/y", "lib/x2", "."]
    text.expect("decisions by rules for single paths", sbpl.both(["a", "lib/x"], no))


@requires("SBPL-MODIFY-07")
def test_the_root_is_writable_by_two_rules_only(case: SbplCase) -> None:
    for rules in (["."], ["**"], ["src/**", "."]):
        text = case.sbpl.compiled(Setup(modify=rules))
        text.expect(
            f"decisions about the root, by the rules {rules}",
            sbpl.both(["."], ["/Users/u", "/Users/u/wsx"]),
        )
    text = case.sbpl.compiled(Setup(modify=["src/**", "a", "**/*.c"]))
    text.expect(
        "decisions about the root, by rules other than `.` and `**`", sbpl.both(["src/x"], ["."])
    )
    point = case.sbpl.compiled(Setup(modify=["."]))
    point.expect("decisions below the root, by the rule `.`", sbpl.both(["."], ["a", "a/b"]))


@requires("SBPL-MODIFY-07")
def test_an_empty_list_makes_no_path_writable(case: SbplCase) -> None:
    for rules in ([], ["!a"]):
        text = case.sbpl.compiled(Setup(modify=rules, deny_modify=["b/**"]))
        text.expect(
            f"decisions by the modify list {rules}",
            sbpl.both([], [".", "a", "a/b", "b", "b/c", "c"]),
            sbpl.WRITES,
        )
        more = case.sbpl.compiled(Setup(modify=[*rules, "c"], deny_modify=["b/**"]))
        more.expect(
            f"decisions by the modify list {rules} with the rule `c` added",
            sbpl.both(["c"], [".", "a", "b"]),
            sbpl.WRITES,
        )


# Spellings of rules, each with the paths that the rule matches.
SPELLED = {
    "a/": ("a", "a/b"),
    "./a/": ("a", "a/b"),
    "ab//": ("ab", "a"),
    "./a": ("a", "./b"),
    "a/./b/": ("a/b", "a"),
    " a ": ("a", "b"),
    "./*/": ("a", "a/b"),
}


@requires("SBPL-MODIFY-08")
@pytest.mark.parametrize("rule", SPELLED)
def test_a_rule_means_the_same_however_it_is_spelled(case: SbplCase, rule: str) -> None:
    yes, no = SPELLED[rule]
    case.sbpl.compiled(Setup(modify=[rule])).expect(
        f"decisions by the allow {rule!r}", sbpl.both([yes], [no])
    )
    denied = case.sbpl.compiled(Setup(modify=["**"], deny_modify=[rule]))
    denied.expect(f"decisions by the deny {rule!r}", sbpl.both(["c/d"], [yes]))


SETUPS, PATHS = 40, 25


@requires("SBPL-MODIFY-08")
def test_each_path_is_decided_as_the_policy_does(case: SbplCase) -> None:
    chance = random.Random(case.session.seed)
    for _ in range(sbpl.times(SETUPS)):
        given = sbpl.setup(chance)
        meant = sbpl.Meaning(given).may_modify
        paths = [sbpl.absolute(given, path) for path in sbpl.paths(chance, given, PATHS)]
        sbpl.same_as_meant("writing", case.sbpl.compiled(given), meant, paths, sbpl.WRITES)


@requires("SBPL-MODIFY-08")
@pytest.mark.parametrize("name", sbpl.WRITES)
def test_each_kind_of_write_is_a_write(case: SbplCase, name: str) -> None:
    text = case.sbpl.compiled(Setup(modify=["src/**"], deny_modify=["src/k"]))
    text.expect(name, sbpl.both(["src", "src/x"], [".", "x", "src/k", "/Users/u/x"]), [name])


ABOVE = {
    "temporary files": ("/private", {}, "tmp"),
    "the root of the system": ("/", {}, "dev"),
    "home": ("/Users/u", {"HOME": "/Users/u"}, ".orbit"),
    "state": ("/opt", {"CODEX_HOME": "/opt/codex"}, "codex"),
    "the parent of home": ("/Users", {"HOME": "/Users/u"}, "u/.codex"),
}


@requires("SBPL-MODIFY-09")
@pytest.mark.parametrize("name", ABOVE)
def test_a_root_above_scratch_is_decided_by_the_policy(case: SbplCase, name: str) -> None:
    root, env, inside = ABOVE[name]
    text = case.sbpl.compiled(Setup(modify=["src/**"], root=root, env=env))
    text.expect(
        "decisions in a root that contains scratch directories",
        sbpl.both(["src/x"], [inside, f"{inside}/x", "x"]),
        sbpl.WRITES,
    )
    allowed = case.sbpl.compiled(Setup(modify=[f"{inside}/**"], root=root, env=env))
    allowed.expect(
        "decisions in a root that contains scratch directories",
        sbpl.both([inside, f"{inside}/x"], ["x"]),
        sbpl.WRITES,
    )
