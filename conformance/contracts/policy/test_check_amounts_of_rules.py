"""POLICY-CHECK: many similar rules, and lists of every length."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from boxspec.api import expect, requires
from contracts.policy.api import WITHIN_S, decided, offsets, policy, question
from contracts.policy.client import PolicyCase

# The names in these rules differ in one byte. The place of this byte differs between rules, and
# between paths.
ALIKE = ["{}", "**/{}/**", "{}*", "**/*{}", "*.{}", "*{}*", "k/*-{}-*/k", "{}?"]
LENGTHS = [*range(1, 36), 63, 64, 65, 129]


@requires("POLICY-CHECK-11")
@pytest.mark.parametrize("shape", ALIKE)
def test_of_many_rules_that_differ_in_one_byte_the_right_one_decides(
    case: PolicyCase, shape: str
) -> None:
    """Check many rules whose names differ in one byte.

    Every second rule allows, so the decision changes if the engine confuses a name with the next
    one.
    """
    profiles: dict[str, Any] = {}
    checks, wanted = [], []
    for length in LENGTHS:
        base = "".join(chr(ord("a") + at % 19) for at in range(length))
        places = range(0, length, 1 if length < 100 else 3)
        names = [f"{base[:at]}X{base[at + 1 :]}" for at in places]
        rules = [f"!{shape.replace('{}', each)}" for each in names]
        rules[::2] = (rule[1:] for rule in rules[::2])
        profiles[str(length)] = {"read": ["**", *rules], "modify": []}
        for rule, each in zip(["**", *rules], [base, *names], strict=True):
            path = re.sub(r"\*\*/|/\*\*|\*", "", shape).replace("?", "x").replace("{}", each)
            checks.append(question("read", path, str(length)))
            wanted.append((path, not rule.startswith("!"), rule.removeprefix("!")))
    items = case.policy.check(policy({"fsProfiles": profiles}), checks, within_s=WITHIN_S)
    got = [(item.get("path"), item.get("allowed"), item.get("matched_rule")) for item in items]
    wrong = [at for at, right in enumerate(wanted) if got[at] != right]
    expect(
        "path, whether it may be read, and by which rule",
        [got[at] for at in wrong[:1]],
        [wanted[at] for at in wrong[:1]],
        {"asked": len(wanted), "wrong": len(wrong)},
    )


@requires("POLICY-CHECK-11")
@pytest.mark.parametrize("shape", ["*{}*", "**/{}/**", "**/*{}*/**"])
def test_of_many_rules_that_match_the_last_one_decides(case: PolicyCase, shape: str) -> None:
    """Check paths that contain several names, each of which a rule matches."""
    chance = random.Random(case.session.seed)
    pieces = [
        f"-{number}-{''.join(chance.choices('abcdefgh', k=number % 30))}." for number in range(200)
    ]
    rules = [shape.replace("{}", piece) for piece in pieces]
    wanted = {}
    for _ in range(100):
        found = chance.sample(range(len(pieces)), chance.randint(2, 60))
        path = ("/" if shape.startswith("**/{") else "k").join(pieces[at] for at in found)
        wanted[path] = rules[max(found)]
    decided(case, rules, wanted)


@requires("POLICY-CHECK-11")
def test_of_many_folders_in_each_other_the_last_one_of_the_list_decides(case: PolicyCase) -> None:
    chance = random.Random(case.session.seed)
    depths = chance.sample(offsets.SOME, len(offsets.SOME))
    rules = [f"{'a/' * depth}**" for depth in depths]
    wanted = {}
    for deep in offsets.EVERY:
        met = [rule for depth, rule in zip(depths, rules, strict=True) if depth <= deep]
        wanted[("a/" * deep).rstrip("/")] = met[-1]
    decided(case, rules, wanted)


SIZED = ["n{}", "d/{}/**", "**/*.{}", "*-{}-*"]
COUNTS = [1, 2, 3, 5, *(2**power + more for power in range(3, 10) for more in (-1, 0, 1))]


@requires("POLICY-CHECK-11")
@pytest.mark.parametrize("shape", [*SIZED, f"**/{'a' * 16}{{}}{'a' * 16}/**"])
def test_lists_of_every_size_find_their_first_and_their_last(case: PolicyCase, shape: str) -> None:
    rules = [shape.replace("{}", str(number)) for number in range(max(COUNTS))]
    paths = [rule.replace("/**", "").replace("**/", "").replace("*", "k") for rule in rules]
    profiles, checks, wanted = {}, [], []
    for count in COUNTS:
        profiles[str(count)] = {"read": rules[:count], "modify": []}
        for at in (0, count // 2, count - 1, count):
            checks.append(question("read", paths[at % len(paths)], str(count)))
            inside = at % len(paths) < count
            wanted.append((inside, rules[at % len(paths)] if inside else "<no matching rule>"))
    items = case.policy.check(policy({"fsProfiles": profiles}), checks, within_s=WITHIN_S)
    got = [(item.get("allowed"), item.get("matched_rule")) for item in items]
    wrong = [at for at, right in enumerate(wanted) if got[at] != right]
    expect(
        f"answers to {[checks[at] for at in wrong[:1]]} (profiles of N rules, named N)",
        [got[at] for at in wrong[:1]],
        [wanted[at] for at in wrong[:1]],
        {"asked": len(wanted), "wrong": len(wrong)},
    )
