"""SBPL-FOLD: file systems on which `A` and `a` are the same name."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Sequence
from typing import Literal

import pytest

from boxspec.api import requires
from contracts.sbpl import kit as sbpl
from contracts.sbpl.client import SbplCase
from contracts.sbpl.kit import Setup
from contracts.sbpl.text import Text

FOLD = Setup(modify=["**"], case="fold")
SPELLINGS = [str.lower, str.upper, str.title, str.swapcase]


def spelled(paths: list[str]) -> list[str]:
    return list(dict.fromkeys(spell(path) for path in paths for spell in SPELLINGS))


@requires("SBPL-FOLD-01")
@pytest.mark.parametrize(
    ("rule", "paths", "others"),
    [
        ("Src/Key", ["src/key"], ["src", "src/keys", "key"]),
        ("Lib/**", ["lib", "lib/x", "lib/x/y"], ["libx", "li"]),
        ("**/*.Env", [".env", "a/b.env"], ["a", "a/b.envy"]),
        ("a/K?y", ["a/key"], ["a/ky", "a"]),
    ],
)
def test_a_deny_holds_in_every_spelling(
    case: SbplCase, rule: str, paths: list[str], others: list[str]
) -> None:
    writes = case.sbpl.compiled(FOLD.but(deny_modify=[rule]))
    writes.expect(
        "decisions about writing", sbpl.both(spelled(others), spelled(paths)), sbpl.WRITES
    )
    reads = case.sbpl.compiled(FOLD.but(deny_read=[rule]))
    reads.expect("decisions about reading", sbpl.both(spelled(others), spelled(paths)), sbpl.READS)


@requires("SBPL-FOLD-01")
def test_an_ancestor_is_guarded_in_every_spelling(case: SbplCase) -> None:
    text = case.sbpl.compiled(FOLD.but(deny_read=["Sub/Dir/key"]))
    no = spelled(["sub", "sub/dir", "sub/dir/key"])
    text.expect("decisions about unlinking", sbpl.both(["sub/x", "x"], no), [sbpl.UNLINK])


@requires("SBPL-FOLD-01")
def test_an_exception_folds_too(case: SbplCase) -> None:
    denies = ["State/**", "!State/Cache/**"]
    text = case.sbpl.compiled(FOLD.but(modify=["**", "!**/K"], deny_modify=denies))
    no = spelled(["state", "state/x", "state/cache/k"])
    text.expect(
        "decisions about writing",
        sbpl.both(spelled(["state/cache", "state/cache/x"]), no),
        sbpl.WRITES,
    )


# Characters that fold to the same character.
ALIKE: dict[str, Sequence[str]] = {
    "e with acute": "éÉ",
    "k and the Kelvin sign": "kK\u212a",
    "s and the long s": "sS\u017f",
    "a with ring and Angstrom": "åÅ\u212b",
    "sigma, also at the end": "σΣς",
    "three cases": "ǆǅǄ",
    "Greek with two marks": "ΐ\u1fd3",
    "Deseret, four bytes": "\U00010428\U00010400",
    "cedilla and acute": "ḉḈ",
    "Hangul of two parts": "가",
    "Hangul of three parts, also half composed": ("각", "\uac00\u11a8"),
}


def ways(character: str) -> list[str]:
    return [unicodedata.normalize(form, character) for form in ("NFC", "NFD")] + [character]


@requires("SBPL-FOLD-02")
@pytest.mark.parametrize("name", ALIKE)
def test_a_deny_applies_to_all_names_that_fold_to_the_same(case: SbplCase, name: str) -> None:
    spellings = list(dict.fromkeys(way for each in ALIKE[name] for way in ways(each)))
    for rule in spellings:
        denies = [f"x{rule}y", f"d/{rule}/**", f"**/z{rule}*"]
        text = case.sbpl.compiled(FOLD.but(deny_modify=denies))
        no = [
            path
            for each in spellings
            for path in (f"x{each}y", f"d/{each}", f"d/{each}/a", f"a/z{each}b", f"z{each}")
        ]
        text.expect(
            "decisions about writing", sbpl.both(["xqy", "xy", "d", "d/q", "a/zq"], no), sbpl.WRITES
        )


@requires("SBPL-FOLD-02")
def test_a_name_with_another_folding_is_not_denied(case: SbplCase) -> None:
    text = case.sbpl.compiled(FOLD.but(deny_modify=["xéy", "xßy", "xıy", "xﬁy"]))
    yes = ["xey", "xEy", "xssy", "xiy", "xIy", "xfiy", "xe\u0300y", "xêy"]
    text.expect(
        "decisions about writing", sbpl.both(yes, ["xÉy", "xe\u0301y", "xßy", "xıy"]), sbpl.WRITES
    )


@requires("SBPL-FOLD-02")
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_question_mark_of_a_deny_takes_a_letter_with_its_marks(
    case: SbplCase, form: Literal["NFC", "NFD"]
) -> None:
    text = case.sbpl.compiled(FOLD.but(deny_modify=["x?y", "d/?/**", "**/z?"]))
    letters = [unicodedata.normalize(form, letter) for letter in ("q", "é", "Ệ", "ß", "한", "😀")]
    no = [path for each in letters for path in (f"x{each}y", f"d/{each}/a", f"b/z{each}")]
    text.expect(
        "decisions about writing",
        sbpl.both(["xy", "x/y", "xqqy", "d/qq/a", "b/z"], no),
        sbpl.WRITES,
    )


@requires("SBPL-FOLD-01")
@pytest.mark.parametrize("place", ["read", "deny"])
def test_a_long_list_is_folded_whole(case: SbplCase, place: str) -> None:
    """Fold a list in which the first or the last rule is by far the longest."""
    name = f"{'0' * 210}/" * 4 + "C"
    rules = {"read": [name, "K"], "deny": ["K", name]}[place]
    text = case.sbpl.compiled(Setup(read=["**", *(f"!{rule}" for rule in rules)], case="fold"))
    text.expect(
        "decisions about reading", sbpl.both(["x"], [*spelled([name]), "k", "K"]), sbpl.READS
    )
    first = case.sbpl.compiled(
        Setup(read=[name, "**"], modify=["**"], deny_modify=["K"], case="fold")
    )
    first.expect("decisions about writing", sbpl.both([name, "x"], ["k", "K"]), sbpl.WRITES)


@requires("SBPL-FOLD-01")
@pytest.mark.parametrize("letter", ["k", "é", "Σ"])
def test_a_name_with_many_spellings_is_whole_or_refused(case: SbplCase, letter: str) -> None:
    for size in (*range(2, 250, 12), 400):
        name = letter * size
        given = FOLD.but(deny_modify=[f"{name}/x/**"])
        answer = case.sbpl.compile(given)
        if answer.ok:
            yes = [f"{name}/y", f"{name[1:]}/x/y", f"{name}{letter}/x/y", "x/y"]
            no = [f"{name}/x/y", f"{name.upper()}/X/y"]
            Text.of(answer, given.root).expect(
                f"decisions with a name of {size} letters", sbpl.both(yes, no), sbpl.WRITES
            )
        else:
            sbpl.refused(f"{size} letters in all their spellings", answer)


@requires("SBPL-FOLD-03")
def test_a_rule_that_makes_readable_again_holds_in_every_spelling(case: SbplCase) -> None:
    text = case.sbpl.compiled(Setup(read=["**", "!Lib/**", "Lib/Doc/**", "**/Re?d"], case="fold"))
    yes, no = ["lib/doc", "lib/doc/x", "lib/read"], ["lib", "lib/x", "lib/docx"]
    text.expect("decisions about reading", sbpl.both(spelled(yes), spelled(no)), sbpl.READS)


LETTERS = ["a", "B", "k", "\u212a", "é", "É", "e\u0301", "ß", "Σ", "ς", ".", "x1"]
PIECES = [*LETTERS, "/", "/", "*", "**/", "/**"]


@requires("SBPL-FOLD-03")
@pytest.mark.parametrize("root", ["/", "/ws"])
def test_the_root_itself_is_decided_as_the_policy_does(case: SbplCase, root: str) -> None:
    below = f"{root.rstrip('/')}/a"
    only = case.sbpl.compiled(Setup(modify=["."], root=root, case="fold"))
    only.expect("decisions by the rule `.`", sbpl.both([root], [below]), sbpl.WRITES)
    everything = case.sbpl.compiled(Setup(modify=["**"], root=root, case="fold"))
    everything.expect("decisions by the rule `**`", sbpl.both([root, below], []), sbpl.WRITES)
    others = case.sbpl.compiled(Setup(modify=["**", "!."], root=root, case="fold"))
    others.expect("decisions without the rule `.`", sbpl.both([below], [root]), sbpl.WRITES)


@requires("SBPL-FOLD-03")
def test_each_path_is_decided_as_the_policy_does(case: SbplCase) -> None:
    chance = random.Random(case.session.seed)
    for _ in range(sbpl.times(30)):
        rules = [sbpl.glob(chance, PIECES) for _ in range(3)]
        given = FOLD.but(modify=[rules[0], f"!{rules[1]}", rules[2]])
        paths = [
            sbpl.absolute(given, other)
            for path in sbpl.paths(chance, given, 20)
            for other in {path, path.upper(), path.lower(), unicodedata.normalize("NFD", path)}
            if sbpl.begins_no_name_with_a_mark(other)
        ]
        meant = sbpl.Meaning(given).may_modify
        sbpl.same_as_meant("writing", case.sbpl.compiled(given), meant, paths, sbpl.CHANGES)
