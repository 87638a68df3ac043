"""POLICY-FOLD: paths and rules that differ in case."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable

import pytest

from boxspec.api import expect, requires
from contracts.policy.api import (
    Group,
    decided,
    judge,
    judge_decisions,
    many_rules,
    offsets,
    one_profile,
    oracle,
    policy,
    questions,
    vectors,
)
from contracts.policy.client import PolicyCase
from contracts.shared.documents import Spec


@vectors("POLICY-FOLD")
def test_the_vectors_are_answered(case: PolicyCase, group: Group) -> None:
    judge(case, group)


JOINED = 60
# Beyond this code point no letter has an upper and a lower case.
LAST = 0x1F000


def pairs() -> list[tuple[str, str]]:
    every = (chr(code) for code in range(0x80, LAST) if not 0xD800 <= code < 0xE000)
    return [(each, oracle.folded(each)) for each in every if oracle.folded(each) != each]


@requires("POLICY-FOLD-01")
def test_each_character_with_a_simple_folding_is_its_folding(case: PolicyCase) -> None:
    # Python's Unicode may be older than the shim's. Later versions of Unicode only add foldings.
    found = pairs()
    expect(
        "whether this Python knows more than 1,300 foldings",
        len(found) > 1300,
        True,
        {"Unicode": unicodedata.unidata_version},
    )
    wrong = []
    for start in range(0, len(found), JOINED):
        some = found[start : start + JOINED]
        # Dashes separate the characters, because some characters would compose with the one before.
        one, other = ("-".join(side) for side in zip(*some, strict=True))
        if case.policy.match(one, [other], "fold") == [True] and case.policy.match(
            other, [one], "fold"
        ) == [True]:
            continue
        wrong += [
            f"U+{ord(left):04X} and {right}"
            for left, right in some
            if case.policy.match(left, [right], "fold") != [True]
            or case.policy.match(right, [left], "fold") != [True]
        ]
    expect("characters that do not match their simple folding", wrong, [])


@requires("POLICY-FOLD-01", capability="policy")
@pytest.mark.parametrize("rule", ["{}k/**", "**/*{}k", "*{}k*", "**/{}?k/**"])
def test_of_many_rules_those_of_every_length_are_folded(case: PolicyCase, rule: str) -> None:
    rules, wanted = [], {}
    for length in offsets.SOME:
        rules.append(rule.replace("{}", f"-{'aé' * length}-{length}-"))
        path = re.sub(r"\*\*/|/\*\*|\*", "", rules[-1]).replace("?", "x")
        wanted[path.upper()] = rules[-1]
        wanted[path.upper().replace("K", "H")] = "**"
    decided(case, rules, wanted, "fold")


@requires("POLICY-FOLD-02", capability="policy")
@pytest.mark.parametrize("pad", offsets.PADS)
def test_marks_are_composed_at_every_offset(case: PolicyCase, pad: Callable[[int], str]) -> None:
    rules, wanted = [], {}
    for length in offsets.SOME:
        rules.append(f"{length}{pad(length)}é/**")
        wanted[f"{length}{pad(length)}e\u0301/k"] = rules[-1]
        wanted[f"{length}{pad(length)}e\u0300/k"] = "**"
    decided(case, rules, wanted, "fold")


@requires("POLICY-FOLD-01", capability="policy")
@pytest.mark.parametrize("count", [12, 70])
def test_many_rules_are_folded(case: PolicyCase, count: int) -> None:
    made = many_rules.many_rules(random.Random(case.session.seed + count), count, loud=True)
    paths = [path.swapcase() for path in made.paths]
    items = case.policy.check(made.in_one_file, questions("modify", paths), "fold")
    judge_decisions(case, items, {path: made.decide(path, True) for path in paths}, count, "fold")


@requires("POLICY-CHECK-08", capability="policy.fold")
def test_a_path_is_answered_as_it_was_spelled(case: PolicyCase) -> None:
    """Ask for paths in a different case. The answer must keep their spelling, because callers open
    the path in the answer."""
    paths = ["Src/Main.C", "SRC/e\u0301", "src/\u00c9", "src/\u212a", "Src/\u1e9e"]
    items = case.policy.check(one_profile(["sRC/**"], []), questions("read", paths), "fold")
    got = [(each.get("path"), each.get("matched_rule")) for each in items]
    expect("path and deciding rule of each answer", got, [(path, "sRC/**") for path in paths])


ALL = {"read": ["**"], "modify": ["**"]}
DENYING = {"read": ["**", "!Key/**"], "modify": ["**", "!Key/**"]}
OPEN = {"fsProfiles": {"p": ALL}}
ABOVE = {**OPEN, "denyModify": ["*/**", "!Key/**"]}
# For each list that may contain the rule: the spec of the file and of the workspace, and two
# booleans. They say whether a path that the rule matches may be read and modified.
LISTS: dict[str, tuple[Spec, Spec | None, tuple[bool, bool]]] = {
    "denyRead": ({**OPEN, "denyRead": ["Key/**"]}, None, (False, True)),
    "denyModify": ({**OPEN, "denyModify": ["Key/**"]}, None, (True, False)),
    "denyRead of the workspace": (OPEN, {"denyRead": ["Key/**"]}, (False, True)),
    "denyModify of the workspace": (OPEN, {"denyModify": ["Key/**"]}, (True, False)),
    "a profile": ({"fsProfiles": {"p": DENYING}}, None, (False, False)),
    "a profile of the workspace": (OPEN, {"fsProfiles": {"p": DENYING}}, (False, False)),
    "an exception": (ABOVE, None, (True, True)),
    "an exception of the workspace": (
        ABOVE,
        {"denyModify": ["key/**", "!Key/x/**"]},
        (True, False),
    ),
}
SPELLED = ["Key/a", "key/a", "kEY/A", "\u212aEY/a", "KEY"]
NOT_MATCHED = ["Keys/a", "a/Key", "ke\u0301y/a"]


@requires("POLICY-FOLD-01", capability="policy")
@pytest.mark.parametrize("where", LISTS)
def test_a_rule_folds_in_every_list(case: PolicyCase, where: str) -> None:
    spec, workspace, allowed = LISTS[where]
    other = (True, "exception" not in where)
    for op, inside, outside in zip(("read", "modify"), allowed, other, strict=True):
        wanted = dict.fromkeys(SPELLED, inside) | dict.fromkeys(NOT_MATCHED, outside)
        got = case.policy.allowed(policy(spec, workspace), questions(op, wanted), "fold")
        expect(f"paths that {op} allows", dict(zip(wanted, got, strict=True)), wanted)
