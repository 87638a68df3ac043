"""SBPL-READ: all paths are readable, except those that a negated rule or a deny covers."""

from __future__ import annotations

import random

import pytest

from boxspec.api import requires
from contracts.sbpl import kit as sbpl
from contracts.sbpl.client import SbplCase
from contracts.sbpl.kit import Setup


@requires("SBPL-READ-01")
@pytest.mark.parametrize("own", [True, False], ids=["own rule", "global deny"])
def test_a_denied_path_cannot_be_read(case: SbplCase, own: bool) -> None:
    rules = ["k/**", "lib/x", "**/*.env"]
    setup = Setup(read=["**", *(f"!{rule}" for rule in rules)]) if own else Setup(deny_read=rules)
    no = ["k", "k/a", "k/a/b", "lib/x", "a.env", "lib/.env"]
    yes = [".", "k2", "lib", "lib/y", "a.envy"]
    case.sbpl.compiled(setup).expect("decisions about reading", sbpl.both(yes, no), sbpl.READ)


@requires("SBPL-READ-02")
def test_a_later_rule_makes_readable_again(case: SbplCase) -> None:
    rules = ["**", "!a/**", "a/b/**", "a/x", "!a/b/c/**", "**/*.md"]
    text = case.sbpl.compiled(Setup(read=rules))
    yes = ["x", "a/b", "a/b/x", "a/x", "a/r.md", "a/b/c/r.md"]
    text.expect(
        "decisions about reading, with allows after denies",
        sbpl.both(yes, ["a", "a/y", "a/b/c", "a/b/c/x"]),
        sbpl.READ,
    )


@requires("SBPL-READ-02")
def test_a_rule_that_comes_again_decides_again(case: SbplCase) -> None:
    rules = ["**", "!a/**", "a/b/**", "!a/b/c/**", "a/b/**", "!a/**", "a/x"]
    closed = case.sbpl.compiled(Setup(read=rules))
    closed.expect(
        "decisions about reading, with a deny repeated last",
        sbpl.both(["a/x", "x"], ["a", "a/b", "a/b/x"]),
        sbpl.READ,
    )
    opened = case.sbpl.compiled(Setup(read=rules[:5]))
    opened.expect(
        "decisions about reading, with an allow repeated last",
        sbpl.both(["a/b", "a/b/c", "a/b/c/x"], ["a/x"]),
        sbpl.READ,
    )


@requires("SBPL-READ-02")
def test_a_global_deny_comes_after_all_own_rules(case: SbplCase) -> None:
    text = case.sbpl.compiled(Setup(read=["**", "!a/**", "a/b/**"], deny_read=["a/b/k"]))
    text.expect(
        "decisions about reading, with allows after denies",
        sbpl.both(["a/b", "a/b/x"], ["a/x", "a/b/k"]),
        sbpl.READ,
    )


@requires("SBPL-READ-03")
def test_a_path_that_no_rule_matches_is_readable(case: SbplCase) -> None:
    text = case.sbpl.compiled(Setup(read=["src/**", "!src/k"]))
    text.expect(
        "decisions about reading", sbpl.both([".", "x", "src", "src/x"], ["src/k"]), sbpl.READ
    )
    nothing = case.sbpl.compiled(Setup(read=[], deny_read=["k"]))
    nothing.expect("decisions about reading", sbpl.both([".", "x"], ["k"]), sbpl.READ)


@requires("SBPL-READ-03")
def test_each_path_is_decided_as_the_policy_does(case: SbplCase) -> None:
    chance = random.Random(case.session.seed)
    for _ in range(sbpl.times(30)):
        reads, denies = sbpl.rules(chance, 5), sbpl.rules(chance, 2, denies=0)
        given = Setup(read=sbpl.without(reads, denies), deny_read=denies)
        paths = [sbpl.absolute(given, path) for path in sbpl.paths(chance, given, 25)]
        meant = sbpl.Meaning(given).may_read
        sbpl.same_as_meant("reading", case.sbpl.compiled(given), meant, paths, sbpl.READ)


@requires("SBPL-READ-03")
def test_reading_is_denied_below_the_root_of_the_system(case: SbplCase) -> None:
    """Deny reading below the root `/`, which is special: its path is the only one that ends in a
    slash."""
    given = Setup(root="/", read=["**", "!a/**", "a/b"], deny_read=["k", "**/*.env"])
    text = case.sbpl.compiled(given)
    text.expect(
        "decisions about reading",
        sbpl.both(["/", "x", "a/b"], ["a", "a/x", "k", "x.env"]),
        sbpl.READ,
    )


@requires("SBPL-READ-04")
@pytest.mark.parametrize("name", sbpl.READS)
def test_data_metadata_and_attributes_are_denied_alike(case: SbplCase, name: str) -> None:
    text = case.sbpl.compiled(Setup(read=["**", "!a/**", "a/b"], deny_read=["k", "lib/*.c"]))
    text.expect(name, sbpl.both([".", "lib", "a/b"], ["a", "a/x", "k", "lib/x.c"]), [name])


@requires("SBPL-READ-05")
def test_reads_outside_the_root_stay_allowed(case: SbplCase) -> None:
    text = case.sbpl.compiled(Setup(read=[], deny_read=["**"], env={"HOME": "/Users/u"}))
    yes = ["/", "/usr/bin/x", "/Users/u", "/Users/u/ws2", "/Users/u/ws2/x", "/Users/u/.ssh/id"]
    text.expect("decisions about reading outside the root", sbpl.both(yes, [".", "x"]), sbpl.READS)
    globs = case.sbpl.compiled(Setup(deny_read=["**/*.env", "k"]))
    outside = ["/x.env", "/Users/u/x.env", "/k"]
    globs.expect(
        "decisions about reading outside the root", sbpl.both(outside, ["x.env", "k"]), sbpl.READS
    )


@requires("SBPL-READ-01")
@pytest.mark.parametrize("own", [True, False])
def test_a_deny_of_the_root_denies_the_root_alone(case: SbplCase, own: bool) -> None:
    given = Setup(read=["**", "!."]) if own else Setup(deny_read=["."])
    text = case.sbpl.compiled(given.but(modify=["**"]))
    text.expect("decisions about reading", sbpl.both(["x", "x/y", "/Users/u"], ["."]), sbpl.READS)


@requires("SBPL-READ-01")
def test_an_exception_of_writing_makes_no_path_readable(case: SbplCase) -> None:
    given = Setup(modify=["**"], deny_modify=["s/**", "!s/c/**"], deny_read=["s/c/key", "**/k.env"])
    text = case.sbpl.compiled(given)
    no = ["s/c/key", "s/c/k.env"]
    text.expect("decisions about reading", sbpl.both(["s/c", "s/c/x", "s/x"], no), sbpl.READS)
    text.expect("decisions about unlinking", sbpl.both(["s/c/x"], no), [sbpl.UNLINK])
