"""Policies of many rules, of two files, with exceptions: lists for which an engine leaves its walk.

Below some length rules are asked one after the other, above it they are looked up. Then every
option goes another way, too: folding, explaining, the profile asked again inside an exception.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contracts.shared import globs as oracle
from contracts.shared.documents import Policy, policy

# Of every length that a look-up may cut a name at, and some that begin or end like others.
PIECES = [
    *("a", "ab", "é", "abc", "-b", ".c", "ab.c", "defgh", "abcdefg", "abcdefgh", "xbcdefgh"),
    *("abcdefghi", "abcdefgh.abcdefg", "abcdefghabcdefgh", "abcdefghabcdefghx"),
    "bcdefghabcdefghabcdefgh",
]
# One segment; P is a piece.
EVERY = ["P", "PP", "P*", "*P", "*.P", "P*P", "*P*", "P*P*P", "P?P", "?P*", "P?.*", "*P?*", "*?"]
EVERY += ["*??", "*?P?"]
BEHIND = ["", "", "", "/**", "/s", "/*", "/**/s"]
# What stands before that segment, and what it is like: so where a look-up may begin.
RULES = {
    "anywhere": (["", "", "**/", "s/", "s/**/", "*/", "**/s/", "*/*/"], [*EVERY, "**P"]),
    "below a double star": (["**/", "**/", "**/s/", "**/s/**/"], EVERY),
    "told by an end": (["", "**/", "s/"], ["P", "*.P", "*.P", "*P", "P*"]),
}
SEGMENTS = ["s", "a-name-of-thirty-or-more-letters"]


def body(chance: random.Random, where: str) -> str:
    """A glob in its normal form."""
    before, shapes = RULES[where]
    segment = re.sub("P", lambda _: chance.choice(PIECES), chance.choice(shapes))
    # Two dots in a name are the matter of RULE and PATH.
    made = chance.choice(before) + segment.replace("..", ".") + chance.choice(BEHIND)
    return oracle.normal_body(made) or made


def rule(chance: random.Random, where: str) -> str:
    return chance.choice(["", "!"]) + body(chance, where)


def near(chance: random.Random, glob: str) -> str | None:
    """A path that the glob matches, or almost; None where none was found."""

    def instead(wildcard: str) -> str:
        if wildcard == "**/":
            return "".join(f"{name}/" for name in chance.choices(SEGMENTS, k=chance.randint(0, 4)))
        return chance.choice("aé") if wildcard == "?" else chance.choice([*PIECES, "é"])

    path = re.sub(r"\*\*/|\*+|\?", lambda found: instead(found[0]), glob)
    if chance.random() < 0.3:
        at = chance.randrange(len(path))
        path = path[:at] + chance.choice(["", "a", "/"]) + path[at + 1 :]
    is_normal = oracle.normal_path(path.encode()) == path != "."
    return path if is_normal and ".." not in path else None


def paths_near(chance: random.Random, bodies: Sequence[str], count: int) -> list[str]:
    made = (near(chance, chance.choice(bodies)) for _ in range(2 * count))
    return list(dict.fromkeys(path for path in made if path is not None))[:count]


# Denies with holes, and what lies in them again: the profile has the last word in `c` alone, and
# opens some of it behind all its other rules.
HOLES = ["h/**", "!h/c/**", "!h/k", "h/c/*.key", "h/c/deep/**"]
OPEN = ["h/k*", "h/c/a/**"]
BELOW_HOLES = ["h", "h/a", "h/k", "h/c", "h/c/a", "h/c/x.key", "h/c/deep/a", "h/c/abcdefgh/s"]


@dataclass(frozen=True)
class Crowd:
    """The profile `p` in two files, and the lists that it is resolved to; `!P` in `denies` is an
    exception."""

    spec: Mapping[str, Any]
    workspace: Mapping[str, Any]
    profile: list[str]
    denies: list[str]
    paths: list[str]

    @property
    def policy(self) -> Policy:
        return policy(self.spec, self.workspace)

    @property
    def in_one_file(self) -> Policy:
        return policy({**self.workspace, "denyModify": self.denies})

    def wanted(self) -> dict[str, tuple[bool, str]]:
        """allowed and matched_rule for each path."""
        return {path: self.decide(path) for path in self.paths}

    def entries(self) -> list[tuple[object, str]]:
        """The list as it is resolved, each entry with its body."""
        own = [(rule, rule.removeprefix("!")) for rule in self.profile]
        return own + [
            ({"except": deny[1:]}, deny[1:]) if deny.startswith("!") else (f"!{deny}", deny)
            for deny in self.denies
        ]

    def decide(self, path: str, fold: bool = False) -> tuple[bool, str]:
        """allowed and matched_rule, the rule as it is written."""
        made = oracle.fold if fold else str
        own = [made(rule) for rule in self.profile]
        denies = [made(deny) for deny in self.denies]
        decision = oracle.decide(own, denies, made(path))
        written = {made(deny).removeprefix("!"): deny for deny in (*self.profile, *self.denies)}
        told = decision.matched_rule
        return decision.allowed, written.get(told, told).removeprefix("!")


def crowd(
    chance: random.Random, count: int, holes: Sequence[str] = HOLES, loud: bool = False
) -> Crowd:
    """`count` rules; what modify asks, since there alone exceptions are. Loud: in capitals."""
    where = list(RULES)
    bodies = list(dict.fromkeys(body(chance, chance.choice(where)) for _ in range(count)))
    if loud:
        bodies = [each.upper() for each in bodies]
    third = len(bodies) // 3
    profile = ["**", *(chance.choice(["", "!"]) + each for each in bodies[: 2 * third])]
    above, below = bodies[2 * third :: 2], bodies[2 * third + 1 :: 2]
    # Whatever the others say: a decision inside an exception is told from one without it.
    profile += OPEN if holes else []
    # A deny for all would leave nothing to ask.
    above, below = ([each for each in some if each.strip("*/?")] for some in (above, below))
    spec = {
        "denyModify": [*above, *holes],
        "fsProfiles": {"p": {"read": ["**"], "modify": ["never/**"]}},
    }
    workspace = {
        "denyModify": below,
        "fsProfiles": {"p": {"read": ["**"], "modify": profile}},
    }
    paths = [*paths_near(chance, bodies, count // 2), *BELOW_HOLES]
    return Crowd(spec, workspace, profile, [*above, *holes, *below], paths)
