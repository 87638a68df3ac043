"""SBPL-FILTER: the filter that a rule is translated into."""

from __future__ import annotations

import random

import pytest

from boxspec.api import Blocked, expect, requires
from contracts.sbpl import kit as sbpl
from contracts.sbpl.client import SbplCase
from contracts.sbpl.kit import Setup, Text


def by_rule(case: SbplCase, rule: str, denied: bool) -> Text:
    """Return a text in which the rule is an allow, or a deny after an allow of all paths."""
    return case.sbpl.compiled(Setup(modify=["**", f"!{rule}"] if denied else [rule]))


def expect_matches(case: SbplCase, rule: str, yes: list[str], no: list[str]) -> None:
    """Check paths that the rule matches (`yes`), and paths that it does not match (`no`).

    The rule is tested as an allow and as a deny.
    """
    for denied in (False, True):
        matched, other = (no, yes) if denied else (yes, no)
        text = by_rule(case, rule, denied)
        text.expect(
            f"decisions by the {'deny' if denied else 'allow'} {rule!r}", sbpl.both(matched, other)
        )


# A rule with a special character, the paths that it matches, and paths that it would match as a
# regular expression.
SPECIAL: list[tuple[str, list[str], list[str]]] = [
    ("d/x.c*", ["d/x.c", "d/x.cc"], ["d/xac", "d/xacc"]),
    ("d/[ab]*", ["d/[ab]", "d/[ab]x"], ["d/a", "d/ax", "d/b"]),
    ("d/[!a]*", ["d/[!a]"], ["d/b", "d/!"]),
    ("d/{a,b}*", ["d/{a,b}"], ["d/a", "d/b"]),
    ("d/a{2}*", ["d/a{2}"], ["d/aa"]),
    ("d/(a)*", ["d/(a)", "d/(a)x"], ["d/a", "d/ax"]),
    ("d/a+*", ["d/a+", "d/a+x"], ["d/aa", "d/a"]),
    ("d/$a*", ["d/$a"], ["d/a"]),
    ("d/a$*", ["d/a$", "d/a$x"], ["d/a"]),
    ("d/^a*", ["d/^a"], ["d/a"]),
    ("d/a|b*", ["d/a|b", "d/a|bx"], ["d/a", "b", "bx"]),
    ("**/.env", [".env", "a/.env"], ["xenv", "a/xenv", "aenv"]),
    ("**/a.b/**", ["a.b", "x/a.b", "a.b/x"], ["axb", "x/axb", "axb/x"]),
    # These rules have no wildcard, so their filter is a literal. In it special characters must be
    # literal too.
    ("d/a.b", ["d/a.b"], ["d/axb"]),
    ("d/[ab]/**", ["d/[ab]", "d/[ab]/x"], ["d/a", "d/a/x"]),
]


@requires("SBPL-FILTER-01")
@pytest.mark.parametrize(("rule", "yes", "no"), SPECIAL, ids=[row[0] for row in SPECIAL])
def test_special_characters_are_literal(
    case: SbplCase, rule: str, yes: list[str], no: list[str]
) -> None:
    expect_matches(case, rule, yes, no)


@requires("SBPL-FILTER-01", capability="sbpl.fold")
@pytest.mark.parametrize(("rule", "yes", "no"), SPECIAL, ids=[row[0] for row in SPECIAL])
def test_special_characters_are_literal_where_names_fold(
    case: SbplCase, rule: str, yes: list[str], no: list[str]
) -> None:
    allow = case.sbpl.compiled(Setup(modify=[rule], case="fold"))
    allow.expect(f"decisions by the allow {rule!r}", sbpl.both([path.upper() for path in yes], no))
    deny = case.sbpl.compiled(Setup(modify=["**", f"!{rule}"], case="fold"))
    deny.expect(f"decisions by the deny {rule!r}", sbpl.both(no, [path.upper() for path in yes]))


@requires("SBPL-FILTER-02")
def test_a_star_does_not_cross_a_slash(case: SbplCase) -> None:
    expect_matches(case, "src/*.c", ["src/a.c", "src/.c"], ["src/d/a.c", "src", "a.c", "src/a.cc"])
    expect_matches(case, "d/a*b", ["d/ab", "d/axb"], ["d/a/b", "d/ax/b", "d"])
    expect_matches(case, "*/x", ["a/x"], ["x", "a/b/x", "a/y"])
    expect_matches(case, "d/*", ["d/a", "d/.a"], ["d", "d/a/b", "da"])


@requires("SBPL-FILTER-02")
@pytest.mark.parametrize("rule", ["*", "*/**"])
def test_a_segment_of_one_star_needs_a_character(case: SbplCase, rule: str) -> None:
    """Match a star in the root `/`, which is special: its path is the only one that ends in a
    slash."""
    plain = case.sbpl.compiled(Setup(modify=["a"], root="/"))
    if not plain.allows("file-write-data", "/a"):
        raise Blocked(["SBPL-MODIFY-09"], "no path below the root `/` is writable")
    allow = case.sbpl.compiled(Setup(modify=[rule], root="/"))
    allow.expect(f"decisions by the allow {rule}", sbpl.both(["/a"], ["/"]))
    deny = case.sbpl.compiled(Setup(modify=["**", f"!{rule}"], root="/"))
    deny.expect(f"decisions by the deny {rule}", sbpl.both(["/"], ["/a"]))


@requires("SBPL-FILTER-03")
def test_two_stars_match_any_number_of_segments(case: SbplCase) -> None:
    expect_matches(case, "**/x", ["x", "a/x", "a/b/x"], ["ax", "x/a", "a/bx"])
    expect_matches(case, "a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/xb", "b", "a/b/x"])
    expect_matches(case, "**/a/**/b", ["a/b", "x/a/b", "a/x/b"], ["xa/b", "a/xb", "a"])
    expect_matches(case, "a/**/**/b", ["a/b", "a/x/y/b"], ["ab", "a/xb"])


@requires("SBPL-FILTER-03")
def test_two_stars_in_a_segment_match_anything(case: SbplCase) -> None:
    expect_matches(case, "a**", ["a", "ab", "a/b", "a/b/c"], ["b", "b/a"])
    expect_matches(case, "a/**b", ["a/b", "a/xb", "a/x/b"], ["a", "a/bx", "ab"])
    expect_matches(case, "**.c", ["a.c", "a/b.c", ".c"], ["a.cc", "c"])
    expect_matches(case, "a**b", ["ab", "axb", "a/b", "ax/yb"], ["a", "b", "a/bx"])


@requires("SBPL-FILTER-04")
def test_a_subtree_of_a_glob_contains_its_own_directory(case: SbplCase) -> None:
    expect_matches(case, "**/out/**", ["out", "a/out", "out/x", "a/out/x/y"], ["outx", "aout", "a"])
    expect_matches(case, "*.d/**", ["a.d", "a.d/x", "a.d/x/y"], ["a.dx", "a/b.d", "x"])
    expect_matches(case, "lib/*/t/**", ["lib/a/t", "lib/a/t/x"], ["lib/a", "lib/t", "lib/a/tx"])
    expect_matches(case, "a**/**", ["a", "ab/x", "a/x"], ["b", "b/a"])
    expect_matches(case, "a/**/**", ["a", "a/x", "a/x/y"], ["ab", "b"])


SUBTREES = {"**/out/**": "a/out", "*.d/**": "a.d", "lib/*/t/**": "lib/a/t", "a?/**": "ab"}


@requires("SBPL-FILTER-04")
@pytest.mark.parametrize("rule", SUBTREES)
def test_the_directory_of_a_globbed_subtree_is_neither_read_nor_unlinked(
    case: SbplCase, rule: str
) -> None:
    place = SUBTREES[rule]
    text = case.sbpl.compiled(Setup(modify=["**"], deny_read=[rule]))
    for names in (sbpl.READ, [sbpl.UNLINK]):
        text.expect(
            f"decisions under the rule {rule}, which denies reading",
            sbpl.both([f"{place}x", "x"], [place, f"{place}/x"]),
            names,
        )


ONE = {"two bytes": "é", "three bytes": "€", "four bytes": "😀", "a control character": "\x01"}
ONE |= {"DEL": "\x7f", "a letter": "b", "a blank": " ", "a tilde": "~", "before the slash": "."}


@requires("SBPL-FILTER-05")
@pytest.mark.parametrize("name", ONE)
def test_a_question_mark_in_a_deny_matches_each_character(case: SbplCase, name: str) -> None:
    for rule, path in (("d/a?c", f"d/a{ONE[name]}c"), ("d/?", f"d/{ONE[name]}")):
        text = by_rule(case, rule, True)
        text.expect(f"decisions by the deny {rule}", sbpl.both(["d", "d/aaac", "x"], [path]))


@requires("SBPL-FILTER-05")
@pytest.mark.parametrize("name", ONE)
def test_a_question_mark_matches_each_character_wherever_a_deny_stands(
    case: SbplCase, name: str
) -> None:
    """Put a `?` into a deny of reading or unlinking, and into an exception from a deny of
    writing."""
    path = f"d/a{ONE[name]}c"
    reads = case.sbpl.compiled(Setup(modify=["**"], deny_read=["d/a?c"]))
    for names in (sbpl.READ, [sbpl.UNLINK]):
        reads.expect(
            "decisions about reading and unlinking", sbpl.both(["d/aaac", "x"], [path]), names
        )
    hole = Setup(modify=["**", "!s/d/a?c"], deny_modify=["s/**", "!s/d/**"])
    case.sbpl.compiled(hole).expect(
        "decisions about writing in an exception", sbpl.both(["s/d/aaac"], [f"s/{path}"])
    )


@requires("SBPL-FILTER-05")
@pytest.mark.parametrize("path", ["d/é", "d/€", "d/😀"])
def test_a_rule_that_allows_and_denies_has_a_question_mark_for_each(
    case: SbplCase, path: str
) -> None:
    """Use a rule with `?` both as an allow and as a deny in one text, in both orders."""
    rule = f"d/{'?' * len(path[2:].encode())}"
    printable = rule.replace("?", "x")
    denied = Setup(modify=["d/?"], read=["**", "!d/?"])
    text = case.sbpl.compiled(denied)
    text.expect("decisions about writing", sbpl.both(["d/x"], ["d/xx", "d"]))
    text.expect("decisions about reading", sbpl.both(["d/xx", "d"], ["d/x", path]), sbpl.READ)
    given_back = case.sbpl.compiled(Setup(modify=[f"!{rule}", rule]))
    given_back.expect("decisions about writing", sbpl.both([printable], [path, "d"]))
    readable = case.sbpl.compiled(Setup(read=["**", "!d/**", rule]))
    readable.expect("decisions about reading", sbpl.both([printable, "x"], [path, "d"]), sbpl.READ)


@requires("SBPL-FILTER-05")
def test_a_question_mark_matches_one_character_and_no_slash(case: SbplCase) -> None:
    expect_matches(case, "d/a?c", ["d/abc", "d/a.c"], ["d/ac", "d/a/c", "d/abbc", "d/a"])
    expect_matches(case, "d/??", ["d/ab"], ["d/a", "d/abc", "d//b", "d"])


@requires("SBPL-FILTER-05")
def test_a_question_mark_in_an_allow_matches_no_more_than_one(case: SbplCase) -> None:
    """Match question marks in an allow with letters of several bytes.

    If the engine counts bytes, two question marks must not match the two bytes of one letter.
    """
    for rule, path in (("d/??", "d/é"), ("d/???", "d/€"), ("d/????", "d/😀"), ("d/?", "d/éé")):
        text = by_rule(case, rule, False)
        text.expect(
            f"decisions by the allow {rule}", sbpl.both([f"d/{'x' * rule.count('?')}"], [path])
        )


# Roots, each with another path that it would match as a regular expression.
ROOTS = {
    "brackets": ("/Users/u/project[1]", "/Users/u/project1"),
    "a dot": ("/Users/u/w.s", "/Users/u/wxs"),
    "a star": ("/Users/u/w*s", "/Users/u/wxs"),
    "two stars": ("/Users/u/**", "/Users/u/x"),
    "a question mark": ("/Users/u/w?s", "/Users/u/ws"),
    "parentheses": ("/Users/u/(ws)", "/Users/u/ws"),
    "braces": ("/Users/u/w{2}", "/Users/u/ww"),
    "a plus": ("/Users/u/w+", "/Users/u/ww"),
    "anchors": ("/Users/u/^ws$", "/Users/u/ws"),
    "a bar": ("/Users/u/ws|", "/Users/u/ws"),
}


@requires("SBPL-FILTER-06")
@pytest.mark.parametrize("name", ROOTS)
def test_the_root_means_itself(case: SbplCase, name: str) -> None:
    root, other = ROOTS[name]
    globs = case.sbpl.compiled(Setup(modify=["src/*.c", "a/**", "b"], root=root))
    yes = ["src/x.c", "a", "a/x", "b"]
    no = [f"{other}/src/x.c", f"{other}/a/x", f"{other}/b", other, "x"]
    globs.expect("decisions about writing", sbpl.both(yes, no))
    denies = case.sbpl.compiled(Setup(modify=["**"], deny_modify=["**/*.env"], root=root))
    denies.expect(
        "decisions about writing", sbpl.both([".", "x"], ["x.env", f"{other}/x", f"{other}/x.env"])
    )
    reads = case.sbpl.compiled(Setup(deny_read=["**/*.env", "k/**", "l"], root=root))
    elsewhere = [f"{other}/x.env", f"{other}/k", f"{other}/l"]
    reads.expect("decisions about reading", sbpl.both(elsewhere, ["x.env", "k/x", "l"]), sbpl.READ)


@requires("SBPL-FILTER-06", capability="sbpl.fold")
@pytest.mark.parametrize("name", [*ROOTS, "a letter", "a letter with a mark"])
def test_the_root_means_itself_where_names_fold(case: SbplCase, name: str) -> None:
    """Use a root where names fold.

    The kernel reports the root in one spelling, so the root does not fold: another spelling is
    another directory.
    """
    more = {
        "a letter": ("/Users/u/Ws", "/Users/u/wS"),
        "a letter with a mark": ("/Users/u/é", "/Users/u/É"),
    }
    root, other = {**ROOTS, **more}[name]
    given = Setup(modify=["Src/*.c", "a/**", "b"], deny_read=["K/**"], root=root, case="fold")
    text = case.sbpl.compiled(given)
    elsewhere = [f"{other}/src/x.c", f"{other}/a/x", f"{other}/b", other]
    text.expect(
        "decisions about writing", sbpl.both(["SRC/X.C", "A", "a/x", "B"], [*elsewhere, "x"])
    )
    text.expect("decisions about reading", sbpl.both([f"{other}/k", "x"], ["k", "K/x"]), sbpl.READ)


GLOBS = ["**/*.env", "a?c", "*/x", "**/d/**", "a**b", "x.y*", "[a]*", "é*", "(a|b)+*", "a b*"]


@requires("SBPL-FILTER-07")
@pytest.mark.parametrize("rule", GLOBS)
def test_regular_expressions_are_anchored_and_of_the_known_dialect(
    case: SbplCase, rule: str
) -> None:
    given = Setup(modify=["**", f"!{rule}", rule, "**/own"], deny_modify=["s/**", "!s/c/**"])
    text = case.sbpl.compiled(given.but(deny_read=["z/**/z"]))
    gaps = text.gaps()
    wrong = [gap.words for gap in gaps if gap.dialect or gap.words.startswith("two repetitions")]
    expect(
        "regular expressions with counts, lazy operators, class names or backslash letters",
        wrong,
        [],
        text.evidence(),
    )
    found = text.regexes()
    expect("whether the text has regular expressions", len(found) >= 4, True, text.evidence())
    open_ended = [regex.pattern for regex in found if not regex.anchored]
    expect(
        "regular expressions that are not anchored at both ends", open_ended, [], text.evidence()
    )


PIECES = ["a", "b", "ab", ".", "/", "/", "*", "**", "**/", "/**", "/**/", "[", "]", "+", "(", ")"]


@requires("SBPL-FILTER-01", "SBPL-FILTER-02", "SBPL-FILTER-03", "SBPL-FILTER-04")
def test_random_globs_match_as_the_policy_does(case: SbplCase) -> None:
    chance = random.Random(case.session.seed)
    for _ in range(sbpl.times(40)):
        globs = [sbpl.glob(chance, PIECES) for _ in range(3)]
        given = Setup(modify=[globs[0], f"!{globs[1]}", globs[2]])
        paths = [sbpl.absolute(given, path) for path in sbpl.paths(chance, given, 30)]
        meant = sbpl.Meaning(given).may_modify
        sbpl.same_as_meant("writing", case.sbpl.compiled(given), meant, paths, sbpl.WRITE)
