"""POLICY-CHECK and POLICY-EXCEPT: numbers of rules that fill a mask, a byte or a table."""

from __future__ import annotations

import itertools

import pytest

from boxspec.api import expect, requires
from contracts.policy.api import WITHIN_S, one_profile, oracle, policy, questions
from contracts.policy.client import PolicyCase
from contracts.shared.near_globs import NESTED

COUNTS = (1, 31, 33, 64, 65, 127, 129, 255, 257, 513, 1025, 4097, 5000)


@requires("POLICY-CHECK-02")
@pytest.mark.parametrize("shape", ["n{}", "d/{}/**", "**/*.{}"])
def test_denies_of_every_number_hold(case: PolicyCase, shape: str) -> None:
    # Only literal rules are tested by the thousand, because the topic COST is about thousands of
    # globs.
    for count in COUNTS if shape == "n{}" else COUNTS[:-3]:
        denies = [shape.replace("{}", str(number)) for number in range(count)]
        at = sorted({0, count // 2, count - 1, *(n for n in (31, 32, 255, 256, 4095) if n < count)})
        denied = [shape.replace("**/", "").replace("/**", "/k").replace("*", "k").replace(
            "{}", str(number)) for number in at]  # fmt: skip
        free = [
            path.replace(str(number), f"{count}") for path, number in zip(denied, at, strict=True)
        ]
        policy = one_profile(["**"], ["**", "!never", "k/**"], [], denies)
        items = case.policy.check(policy, questions("modify", [*denied, *free]), None, WITHIN_S)
        got = [item["allowed"] for item in items]
        wanted = [False] * len(denied) + [True] * len(free)
        expect(f"decisions about {[*denied, *free]}, with {count} denies", got, wanted)


@requires("POLICY-EXCEPT-03")
@pytest.mark.parametrize("end", ["", "/**"])
def test_exceptions_of_every_number_hold(case: PolicyCase, end: str) -> None:
    for count in (1, 31, 32, 33, 63, 64, 65, 127, 129, 255, 257):
        exceptions = [f"!e/n{number}{end}" for number in range(count)]
        at = sorted({0, count // 2, count - 1, *(n for n in (31, 32, 63, 64, 128) if n < count)})
        rules = ["**", "e/n*/**", "!e/n0/k"]
        policy = one_profile(["**"], rules, [], ["e/**", *exceptions])
        paths = [f"e/n{number}{'/x' if end else ''}" for number in at]
        others = ["e", f"e/n{count}", "e/n0/k", "e/n"]
        checks = questions("modify", [*paths, *others])
        items = case.policy.check(policy, checks, None, WITHIN_S)
        got = [(item["allowed"], item["matched_rule"]) for item in items]
        denied = (False, "e/**")
        inside = (False, "e/n0/k") if end else denied
        wanted = [*((True, "e/n*/**") for _ in paths), denied, denied, inside, denied]
        expect(f"decisions about {[*paths, *others]}, with {count} exceptions", got, wanted)


LENGTHS = (255, 257, 1023, 1025, 4095, 4097, 8193, 65535, 65537)


@requires("POLICY-CHECK-01")
@pytest.mark.parametrize("deny", ["**/x", "d/**/x", "d*/**x"])
def test_the_end_of_a_path_decides_at_every_length(case: PolicyCase, deny: str) -> None:
    """Check paths of each length: half of them end in the denied name, half in another name."""
    starts = ["d/" * (length // 2) for length in LENGTHS]
    paths = [f"{start}{end}" for start in starts for end in ("x", "y")]
    policy = one_profile(["**", f"!{deny}"], [])
    items = case.policy.check(policy, questions("read", paths), None, WITHIN_S)
    got = [item.get("allowed") for item in items]
    expect(f"decisions at the lengths {LENGTHS}", got, [False, True] * len(LENGTHS))


BELOW = ["h/c", "h/c/a", "h/c/ab", "h/c/abc", "h/c/a/b", "h/c/a/ab", "h/c/x/y/ab", "h/c/*", "h/c/é"]


@requires("POLICY-EXCEPT-04")
@pytest.mark.parametrize("sign", ["", "!"])
def test_wildcards_inside_an_exception_have_their_usual_width(case: PolicyCase, sign: str) -> None:
    """Test each wildcard inside an exception, as an allow and as a denial, after nothing and after
    another wildcard."""
    denies = ["h/**", "!h/c/**"]
    for first, second in itertools.product(NESTED, ["", *NESTED[:6]]):
        rules = [f"{'' if sign else '!'}**", f"{sign}{first}"]
        rules += [f"{'!' if not sign else ''}{second}"] if second else []
        policy = one_profile(["**"], rules, [], denies)
        items = case.policy.check(policy, questions("modify", BELOW))
        got = {path: item["allowed"] for path, item in zip(BELOW, items, strict=True)}
        wanted = {path: oracle.decide(rules, denies, path).allowed for path in BELOW}
        wrong = {path: got[path] for path in BELOW if got[path] is not wanted[path]}
        expect(f"wrong decisions by {rules} inside an exception", wrong, {})


OVERLAPPING = ["**", "a/**", "a/*", "*/b", "a/b", "**/b", "a/?", "a*/b", "**b"]


@requires("POLICY-CHECK-05")
@pytest.mark.parametrize("sign", ["", "!"])
def test_of_rules_of_one_sign_the_last_one_is_named(case: PolicyCase, sign: str) -> None:
    """Check `a/b` against rules that all match it.

    If the engine changes their order by sorting or merging, the answer changes.
    """
    for one, other in itertools.permutations(OVERLAPPING, 2):
        rules = ["x", f"{sign}{one}", f"{sign}{other}"]
        items = case.policy.check(one_profile(rules, []), questions("read", ["a/b"]))
        wanted = (not sign, other)
        got = (items[0]["allowed"], items[0]["matched_rule"])
        expect(f"the decision about a/b by {rules}", got, wanted)


# Numbers of denies in the global file and in the workspace's file.
THOUSANDS = {"one file": (66_000, 0), "two files": (4_500, 4_500)}


@requires("POLICY-CHECK-02")
@pytest.mark.parametrize("files", THOUSANDS)
def test_the_first_and_the_last_of_many_thousand_denies_hold(case: PolicyCase, files: str) -> None:
    above, below = THOUSANDS[files]
    denies = [f"n{number}" for number in range(above + below)]
    given = one_profile(["**"], ["**"], [], denies[:above])
    if below:
        given["workspace"] = policy({"denyModify": denies[above:]})
    paths = [denies[0], denies[above // 2], denies[-2], denies[-1], f"n{len(denies)}"]
    items = case.policy.check(given, questions("modify", paths), None, WITHIN_S)
    got = [(item.get("allowed"), item.get("matched_rule")) for item in items]
    wanted = [*((False, path) for path in paths[:-1]), (True, "**")]
    expect(f"decisions about {paths}, with {len(denies)} denies", got, wanted)


@requires("POLICY-CHECK-01")
def test_the_end_of_a_rule_decides_at_every_length(case: PolicyCase) -> None:
    # Engines that make a regular expression of a rule, or compare each byte of it with each byte of
    # the path, are right too, but take minutes for longer rules.
    lengths = [length for length in LENGTHS if length < 5_000]
    starts = [("d/" * length)[: length - 1].rstrip("/") for length in lengths]
    rules = [f"{start}/x" for start in starts]
    given = one_profile(["**", *(f"!{rule}" for rule in rules)], [])
    paths = [f"{start}/{end}" for start in starts for end in ("x", "y")]
    items = case.policy.check(given, questions("read", paths), None, WITHIN_S)
    got = [item.get("allowed") for item in items]
    expect(f"decisions by rules of the lengths {lengths}", got, [False, True] * len(lengths))
