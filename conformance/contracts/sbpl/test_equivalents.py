"""Several topics: rules that a compiler may confuse, and large numbers of rules."""

from __future__ import annotations

import pytest

from boxspec.api import requires
from contracts.sbpl import kit as sbpl
from contracts.sbpl.client import SbplCase
from contracts.sbpl.kit import Setup
from contracts.shared import globs as oracle
from contracts.shared import near_globs

PATHS = [
    ".",
    *near_globs.paths(near_globs.NAMES, 1, 2),
    *near_globs.paths(["a", "ba"], 3),
    "a/b/ab/a/b",
]


def compare_writes(case: SbplCase, what: str, given: Setup, paths: list[str]) -> None:
    """Fail if the text and the policy decide differently about writing one of these paths."""
    places = [sbpl.absolute(given, path) for path in paths]
    text = case.sbpl.compiled(given)
    sbpl.same_as_meant(what, text, sbpl.Meaning(given).may_modify, places, ["file-write-create"])


def compare_reads(case: SbplCase, what: str, given: Setup, paths: list[str]) -> None:
    """Fail if the text and the policy decide differently about reading one of these paths."""
    places = [sbpl.absolute(given, path) for path in paths]
    text = case.sbpl.compiled(given)
    sbpl.same_as_meant(what, text, sbpl.Meaning(given).may_read, places, ["file-read-data"])


def rules_from(first: str) -> list[str]:
    return [rule for rule in near_globs.globs_from(first) if oracle.normal_body(rule) == rule]


@requires("SBPL-MODIFY-08")
@pytest.mark.parametrize("first", near_globs.SEGMENTS)
def test_no_pair_of_segments_is_simplified(case: SbplCase, first: str) -> None:
    for rule in rules_from(first):
        compare_writes(case, f"the allow {rule}", Setup(modify=[rule]), PATHS)
        if rule != "**":
            denied = Setup(modify=["**"], deny_modify=[rule])
            compare_writes(case, f"the deny {rule}", denied, PATHS)


@requires("SBPL-READ-03")
@pytest.mark.parametrize("first", near_globs.SEGMENTS)
def test_no_pair_of_segments_of_a_read_rule_is_simplified(case: SbplCase, first: str) -> None:
    for rule in rules_from(first):
        if rule == "**":
            continue
        compare_reads(case, f"the deny {rule}", Setup(deny_read=[rule]), PATHS)


BELOW = ["h/c", "h/c/a", "h/c/ab", "h/c/abc", "h/c/a/b", "h/c/a/ab", "h/c/x/y/ab", "h/x"]


@requires("SBPL-EXCEPT-01")
@pytest.mark.parametrize("sign", ["", "!"])
def test_wildcards_inside_an_exception_have_their_usual_width(case: SbplCase, sign: str) -> None:
    """Test each wildcard inside an exception, as an allow and as a denial."""
    for rule in near_globs.NESTED:
        rules = [f"{'' if sign else '!'}**", f"{sign}{rule}"]
        given = Setup(modify=rules, deny_modify=["h/**", "!h/c/**"])
        compare_writes(case, f"{rules} inside an exception", given, BELOW)


# Numbers of rules around powers of two, at which a bit mask, a byte or a table of a compiler may be
# too small.
COUNTS = (1, 8, 9, 31, 33, 63, 65, 127, 129, 255, 257, 513)


def many(shape: str, count: int) -> tuple[list[str], list[str]]:
    """Return rules of this shape, and paths that the first, a middle, the last and no rule
    match."""
    rules = [shape.replace("{}", str(number)) for number in range(count)]
    at = sorted({0, count // 2, count - 1, count})
    paths = [shape.replace("{}", str(n)).replace("**/", "").replace("*", "k") for n in at]
    return rules, [*paths, "x"]


@requires("SBPL-MODIFY-01")
@pytest.mark.parametrize("shape", ["n{}", "d/{}/**", "**/*.{}"])
def test_denies_of_every_number_hold(case: SbplCase, shape: str) -> None:
    for count in COUNTS:
        denies, paths = many(shape, count)
        given = Setup(modify=["**"], deny_modify=denies)
        compare_writes(case, f"{count} denies", given, paths)


@requires("SBPL-READ-03")
@pytest.mark.parametrize("shape", ["n{}", "d/{}/**", "**/*.{}"])
def test_denies_of_reading_of_every_number_hold(case: SbplCase, shape: str) -> None:
    for count in COUNTS:
        denies, paths = many(shape, count)
        compare_reads(case, f"{count} denies", Setup(deny_read=denies), paths)


@requires("SBPL-EXCEPT-01")
@pytest.mark.parametrize("end", ["", "/**"])
def test_exceptions_of_every_number_hold(case: SbplCase, end: str) -> None:
    for count in COUNTS:
        denies = ["e/**", *(f"!e/n{number}{end}" for number in range(count))]
        paths = [f"e/n{number}" for number in sorted({0, count // 2, count - 1, count})]
        given = Setup(modify=["**", "!e/n0/k"], deny_modify=denies)
        below = [f"{path}/{name}" for path in paths for name in ("k", "x")]
        compare_writes(case, f"{count} exceptions", given, ["e", *paths, *below])


# Each count is a third of one of the counts above, because `turns` makes three rules at a time.
THIRDS = (1, 3, 11, 22, 43, 86, 171)


def turns(count: int) -> tuple[list[str], list[str]]:
    """Return rules that alternately deny and allow, and paths.

    The three rules of a turn share a name. Each path has the name of the first turn, of a middle
    one, of the last one, or of no turn.
    """
    rules = [
        rule
        for number in range(count)
        for rule in (f"!d{number}/**", f"d{number}/a/**", f"!d{number}/a/b")
    ]
    at = sorted({0, count // 2, count - 1, count})
    names = ("", "/x", "/a", "/a/x", "/a/b")
    return rules, [f"d{number}{name}" for number in at for name in names]


@requires("SBPL-MODIFY-08")
def test_the_order_of_rules_counts_in_every_number(case: SbplCase) -> None:
    for count in THIRDS:
        rules, paths = turns(count)
        given = Setup(modify=["**", *rules])
        compare_writes(case, f"{3 * count} rules that allow and deny", given, paths)


@requires("SBPL-READ-03")
def test_the_order_of_rules_of_reading_counts_in_every_number(case: SbplCase) -> None:
    for count in THIRDS:
        rules, paths = turns(count)
        given = Setup(read=["**", *rules])
        compare_reads(case, f"{3 * count} rules that allow and deny", given, paths)


@requires("SBPL-EXCEPT-01")
def test_own_rules_of_every_number_hold_inside_an_exception(case: SbplCase) -> None:
    for count in COUNTS:
        denies, paths = many("e/c/n{}", count)
        own = [f"!{rule}" for rule in denies]
        given = Setup(modify=["**", *own], deny_modify=["e/**", "!e/c/**"])
        compare_writes(case, f"{count} own rules inside an exception", given, [*paths, "e/x"])


@requires("SBPL-SIDE-01")
def test_side_roots_of_every_number_are_writable(case: SbplCase) -> None:
    for count in COUNTS:
        sides = [f"/opt/s{number}" for number in range(count)]
        text = case.sbpl.compiled(Setup(side_roots=sides, provider="codex"))
        yes = [sides[number] + "/x" for number in sorted({0, count // 2, count - 1})]
        text.expect(f"decisions with {count} side roots", sbpl.both(yes, [f"/opt/s{count}/x", "x"]))


@requires("SBPL-UNLINK-01", "SBPL-UNLINK-02")
def test_read_denied_rules_of_every_number_are_guarded(case: SbplCase) -> None:
    for count in COUNTS:
        denies, paths = many("d{}/k", count)
        text = case.sbpl.compiled(Setup(modify=["**"], deny_read=denies))
        *inside, outside, other = paths
        no = [*inside, *(path.removesuffix("/k") for path in inside)]
        text.expect(
            f"decisions with {count} rules", sbpl.both([outside, other], no), (sbpl.UNLINK,)
        )


# Pairs of rules that differ only in case, or in a character that looks similar.
ALIKE = [("k", "K"), ("K", "k"), ("a/k/**", "A/k/**"), ("a/*.env", "a/*.ENV"), ("e", "\u0435"),
         ("a/k", "a/k/**"), ("a?", "a*"), ("s/x", "\u017f/x"), ("k", "\u212a")]  # fmt: skip


NAMED = [ascii(" ".join(pair)) for pair in ALIKE]


def names_of(pair: tuple[str, str]) -> list[str]:
    """Return one path for each of the two rules, which the rule matches."""
    return [rule.replace("/**", "/x").replace("*", "x").replace("?", "y") for rule in pair]


def around(pair: tuple[str, str]) -> list[str]:
    names = names_of(pair)
    return [*names, *(f"{name}/x" for name in names), "a/k", "A/k", "a", "x"]


@requires("SBPL-MODIFY-08")
@pytest.mark.parametrize("pair", ALIKE, ids=NAMED)
def test_rules_that_are_almost_equal_both_hold(case: SbplCase, pair: tuple[str, str]) -> None:
    denies = Setup(modify=["**"], deny_modify=pair)
    compare_writes(case, f"the denies {pair}", denies, around(pair))
    again = Setup(modify=["**", f"!{pair[0]}", pair[1]])
    compare_writes(case, f"a deny and an allow, {pair}", again, around(pair))


@requires("SBPL-READ-03")
@pytest.mark.parametrize("pair", ALIKE, ids=NAMED)
def test_almost_equal_rules_of_reading_both_hold(case: SbplCase, pair: tuple[str, str]) -> None:
    compare_reads(case, f"the denies {pair}", Setup(deny_read=pair), around(pair))


@requires("SBPL-UNLINK-01")
@pytest.mark.parametrize("pair", ALIKE, ids=NAMED)
def test_almost_equal_rules_both_guard_their_paths(case: SbplCase, pair: tuple[str, str]) -> None:
    text = case.sbpl.compiled(Setup(modify=["**"], deny_read=pair))
    text.expect(
        f"decisions about unlinking, with the rules {pair}",
        sbpl.both(["x"], names_of(pair)),
        (sbpl.UNLINK,),
    )


@requires("SBPL-MODIFY-08")
@pytest.mark.parametrize("segment", ["n", "*", "?"])
def test_rules_of_every_depth_hold(case: SbplCase, segment: str) -> None:
    # The string of a rule may have 1,000 bytes (SBPL-NAME-04), and each `?` needs many of them.
    for depth in (1, 2, 7, 8, 9, 15, 16, 17) if segment == "?" else (1, 2, 15, 16, 17, 31, 32, 33):
        rule = "/".join([segment] * depth)
        paths = ["/".join(["n"] * length) for length in (depth - 1, depth, depth + 1) if length]
        given = Setup(modify=["**"], deny_modify=[rule])
        compare_writes(case, f"a rule of {depth} segments", given, [*paths, "k"])
