"""POLICY-FOLD: paths and rules that differ by case."""

from __future__ import annotations

import unicodedata

from boxspec.api import Box, expect, requires
from contracts.policy.api import Group, judge, oracle, vectors


@vectors("POLICY-FOLD")
def test_the_vectors_are_answered(box: Box, group: Group) -> None:
    judge(box, group)


JOINED = 60
# No letter behind it has a case.
LAST = 0x1F000


def pairs() -> list[tuple[str, str]]:
    every = (chr(code) for code in range(0x80, LAST) if not 0xD800 <= code < 0xE000)
    return [(each, oracle.folded(each)) for each in every if oracle.folded(each) != each]


@requires("POLICY-FOLD-01")
def test_each_character_with_a_simple_folding_is_its_folding(box: Box) -> None:
    # Those that Unicode had when this Python was made: later ones are more, none is less.
    found = pairs()
    expect(
        "the pairs of this Python",
        len(found) > 1300,
        True,
        {"Unicode": unicodedata.unidata_version},
    )
    wrong = []
    for start in range(0, len(found), JOINED):
        some = found[start : start + JOINED]
        # A dash between them: some would compose with their neighbour.
        one, other = ("-".join(side) for side in zip(*some, strict=True))
        if box.policy.match(one, [other], "fold") == [True] and box.policy.match(
            other, [one], "fold"
        ) == [True]:
            continue
        wrong += [
            f"U+{ord(left):04X} and {right}"
            for left, right in some
            if box.policy.match(left, [right], "fold") != [True]
            or box.policy.match(right, [left], "fold") != [True]
        ]
    expect("characters that do not match their folding", wrong, [])
