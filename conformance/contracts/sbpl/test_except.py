"""SBPL-EXCEPT: inside an exception the profile's own rules decide."""

from __future__ import annotations

import random

from boxspec.api import requires
from contracts.sbpl import kit as sbpl
from contracts.sbpl.client import SbplCase
from contracts.sbpl.kit import Setup
from contracts.shared import globs as oracle

DENIES = ["s/**", "!s/c/**"]


@requires("SBPL-EXCEPT-01")
def test_inside_an_exception_the_own_rules_decide(case: SbplCase) -> None:
    text = case.sbpl.compiled(Setup(modify=["**"], deny_modify=DENIES))
    text.expect("inside", sbpl.both(["s/c", "s/c/x", "x"], ["s", "s/x", "s/cx"]), sbpl.WRITES)


@requires("SBPL-EXCEPT-01")
def test_the_last_own_rule_decides_and_negations_hold(case: SbplCase) -> None:
    rules = ["**", "!s/c/k/**", "s/c/k/a", "!**/*.env"]
    text = case.sbpl.compiled(Setup(modify=rules, deny_modify=DENIES))
    no = ["s/c/k", "s/c/k/b", "s/c/x.env", "s/x"]
    text.expect("inside", sbpl.both(["s/c", "s/c/x", "s/c/k/a"], no), sbpl.WRITES)


@requires("SBPL-EXCEPT-01")
def test_random_exceptions_are_decided_as_the_policy_does(case: SbplCase) -> None:
    chance = random.Random(case.session.seed)
    for _ in range(sbpl.times(24)):
        plain = sbpl.setup(chance)
        denies = [*plain.deny_modify, "src/**", "lib/a/**"]
        rules = sbpl.without(["**", *plain.modify, "!src/a/b", "src/**/main.c"], denies)
        given = plain.but(modify=rules, deny_modify=sbpl.exceptions(chance, denies))
        inside = [deny[1:] for deny in given.deny_modify if deny.startswith("!")]
        paths = [
            sbpl.absolute(given, path)
            for path in sbpl.paths(chance, given, 40)
            if any(oracle.matches(body, path) for body in inside)
        ]
        meant = sbpl.Meaning(given).may_modify
        sbpl.same_as_meant("in exceptions", case.sbpl.compiled(given), meant, paths, sbpl.CHANGES)


@requires("SBPL-EXCEPT-02")
def test_an_exception_grants_nothing_that_the_profile_does_not(case: SbplCase) -> None:
    text = case.sbpl.compiled(Setup(modify=["src/**", "s/c/a/**"], deny_modify=DENIES))
    text.expect("inside", sbpl.both(["src/x", "s/c/a/x"], ["s/c", "s/c/x", "s/c/b/x"]), sbpl.WRITES)
    nothing = case.sbpl.compiled(Setup(modify=["src/**"], deny_modify=DENIES))
    nothing.expect("inside", sbpl.both(["src/x"], ["s/c", "s/c/x"]), sbpl.WRITES)


@requires("SBPL-EXCEPT-02")
def test_an_exception_grants_no_path_outside(case: SbplCase) -> None:
    text = case.sbpl.compiled(Setup(modify=["**"], deny_modify=["s/**", "!s/c", "!s/d/**"]))
    no = ["s", "s/x", "s/c/x", "s/cx", "s/dx", "s/e"]
    text.expect(
        "decisions next to the exception", sbpl.both(["s/c", "s/d", "s/d/x", "x"], no), sbpl.WRITES
    )


@requires("SBPL-EXCEPT-03")
def test_a_deny_after_an_exception_narrows_it(case: SbplCase) -> None:
    denies = [*DENIES, "s/c/k/**", "!s/c/k/a", "**/*.pem"]
    text = case.sbpl.compiled(Setup(modify=["**"], deny_modify=denies))
    yes = ["s/c/x", "s/c/k/a"]
    text.expect("narrowed", sbpl.both(yes, ["s/c/k", "s/c/k/b", "s/c/x.pem", "s/x"]), sbpl.WRITES)


@requires("SBPL-EXCEPT-03")
def test_a_deny_that_comes_again_closes_the_exception(case: SbplCase) -> None:
    open_ = case.sbpl.compiled(Setup(modify=["**"], deny_modify=DENIES))
    open_.expect("decisions with the exception", sbpl.both(["s/c", "s/c/x"], ["s/x"]), sbpl.WRITES)
    for again in ("s/**", "s/c/**"):
        text = case.sbpl.compiled(Setup(modify=["**"], deny_modify=[*DENIES, again]))
        text.expect(
            f"decisions with {again} after the exception",
            sbpl.both(["x"], ["s/x", "s/c", "s/c/x"]),
            sbpl.WRITES,
        )
    opened = case.sbpl.compiled(Setup(modify=["**"], deny_modify=[*DENIES, "s/**", DENIES[1]]))
    opened.expect(
        "decisions with the exception repeated after the deny",
        sbpl.both(["s/c", "s/c/x", "x"], ["s", "s/x"]),
        sbpl.WRITES,
    )
