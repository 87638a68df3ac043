"""POLICY-CHECK: lists so long that an engine looks rules up instead of asking each."""

from __future__ import annotations

import random
import re

import pytest

from boxspec.api import Box, expect, requires
from contracts.policy.api import one_profile, oracle, questions

# Of every length that a look-up may cut a name at, and some that begin or end like others.
PIECES = [
    *("a", "ab", "é", "abc", "-b", ".c", "ab.c", "defgh", "abcdefg", "abcdefgh", "xbcdefgh"),
    *("abcdefghi", "abcdefgh.abcdefg", "abcdefghabcdefgh", "abcdefghabcdefghx"),
    "bcdefghabcdefghabcdefgh",
]
# One segment; P is a piece.
EVERY = ["P", "PP", "P*", "*P", "*.P", "P*P", "*P*", "P*P*P", "P?P", "?P*", "P?.*", "*P?*", "*?"]
BEHIND = ["", "", "", "/**", "/s", "/*", "/**/s"]
# What stands before that segment, and what it is like: so where a look-up may begin.
RULES = {
    "anywhere": (["", "", "**/", "s/", "s/**/", "*/", "**/s/", "*/*/"], [*EVERY, "**P"]),
    "below a double star": (["**/", "**/", "**/s/", "**/s/**/"], EVERY),
    "told by an end": (["", "**/", "s/"], ["P", "*.P", "*.P", "*P", "P*"]),
}
SEGMENTS = ["s", "a-name-of-thirty-or-more-letters"]
PATHS = 80
# Time is the matter of COST.
WITHIN_S = 60


def rule(chance: random.Random, where: str) -> str:
    before, shapes = RULES[where]
    segment = re.sub("P", lambda _: chance.choice(PIECES), chance.choice(shapes))
    # Two dots in a name are the matter of RULE and PATH.
    body = chance.choice(before) + segment.replace("..", ".") + chance.choice(BEHIND)
    return chance.choice(["", "!"]) + (oracle.normal_body(body) or body)


def near(chance: random.Random, body: str) -> str | None:
    """A path that the rule matches, or almost; None where none was found."""

    def instead(wildcard: str) -> str:
        if wildcard == "**/":
            return "".join(f"{name}/" for name in chance.choices(SEGMENTS, k=chance.randint(0, 4)))
        return "a" if wildcard == "?" else chance.choice([*PIECES, "é"])

    path = re.sub(r"\*\*/|\*+|\?", lambda found: instead(found[0]), body)
    if chance.random() < 0.3:
        at = chance.randrange(len(path))
        path = path[:at] + chance.choice(["", "a", "/"]) + path[at + 1 :]
    is_normal = oracle.normal_path(path.encode()) == path != "."
    return path if is_normal and ".." not in path else None


def last(rules: list[str], path: str) -> str | None:
    met = (each for each in reversed(rules) if oracle.matches(each.removeprefix("!"), path))
    return next(met, None)


@requires("POLICY-CHECK-11")
@pytest.mark.parametrize("count", [50, 150])
@pytest.mark.parametrize("where", RULES)
def test_the_last_match_of_many_rules_decides(box: Box, where: str, count: int) -> None:
    chance = random.Random(box.session.seed + count)
    rules = [rule(chance, where) for _ in range(count)]
    made = (near(chance, chance.choice(rules).removeprefix("!")) for _ in range(2 * PATHS))
    paths = list(dict.fromkeys(path for path in made if path is not None))[:PATHS]
    policy, checks = one_profile(rules, []), questions("read", paths)
    answer = box.ask("policy.check", within_s=WITHIN_S, policy=policy, checks=checks)
    items = zip(paths, answer.result["checks"], strict=True)
    answers = {path: (item["allowed"], item["matched_rule"]) for path, item in items}
    wanted = {}
    for path in paths:
        told = last(rules, path)
        if told is None:
            wanted[path] = (False, "<no matching rule>")
        else:
            wanted[path] = (not told.startswith("!"), told.removeprefix("!"))
    wrong = [path for path in paths if answers[path] != wanted[path]]
    shortest = min(wrong, key=len, default=None)
    expect(
        f"whether {shortest!r} may be read, and by which rule",
        shortest and answers[shortest],
        shortest and wanted[shortest],
        {"rules": len(rules), "asked": len(paths), "wrong": wrong[:20]},
    )
