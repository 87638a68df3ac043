"""Make policies with many rules in two files, with exceptions.

An engine may try a few rules one after the other, but look up many rules in an index. So long lists
test other code of the engine. This is also true of folding, explaining and exceptions.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contracts.shared import globs as oracle
from contracts.shared.documents import Policy, policy

# Names of every length at which an index may cut a name. Some names have the same beginning or end.
PIECES = [
    *("a", "ab", "é", "abc", "-b", ".c", "ab.c", "defgh", "abcdefg", "abcdefgh", "xbcdefgh"),
    *("abcdefghi", "abcdefgh.abcdefg", "abcdefghabcdefgh", "abcdefghabcdefghx"),
    "bcdefghabcdefghabcdefgh",
]
# Patterns for one segment. P stands for a name in PIECES.
EVERY = ["P", "PP", "P*", "*P", "*.P", "P*P", "*P*", "P*P*P", "P?P", "?P*", "P?.*", "*P?*", "*?"]
EVERY += ["*??", "*?P?"]
BEHIND = ["", "", "", "/**", "/s", "/*", "/**/s"]
# Keyed by the place of the segment in the glob: texts that may precede it, and patterns for it.
# They determine where an index look-up may begin.
RULES = {
    "anywhere": (["", "", "**/", "s/", "s/**/", "*/", "**/s/", "*/*/"], [*EVERY, "**P"]),
    "below a double star": (["**/", "**/", "**/s/", "**/s/**/"], EVERY),
    "found by an end": (["", "**/", "s/"], ["P", "*.P", "*.P", "*P", "P*"]),
}
SEGMENTS = ["s", "a-name-of-thirty-or-more-letters"]


def body(chance: random.Random, where: str) -> str:
    """Return a random glob in its normal form."""
    before, shapes = RULES[where]
    segment = re.sub("P", lambda _: chance.choice(PIECES), chance.choice(shapes))
    # Two dots in a row are removed, because the topics RULE and PATH test them.
    made = chance.choice(before) + segment.replace("..", ".") + chance.choice(BEHIND)
    return oracle.normal_body(made) or made


def rule(chance: random.Random, where: str) -> str:
    return chance.choice(["", "!"]) + body(chance, where)


def near(chance: random.Random, glob: str) -> str | None:
    """Return a path that the glob matches or almost matches; None if no such path was found."""

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


# Denies with exceptions, and denies inside the exceptions. Only in `c` the profile's own rules
# decide. OPEN, which is at the end of the profile, allows a part of `c`.
HOLES = ["h/**", "!h/c/**", "!h/k", "h/c/*.key", "h/c/deep/**"]
OPEN = ["h/k*", "h/c/a/**"]
BELOW_HOLES = ["h", "h/a", "h/k", "h/c", "h/c/a", "h/c/x.key", "h/c/deep/a", "h/c/abcdefgh/s"]


@dataclass(frozen=True)
class ManyRules:
    """The profile `p` in two files, and its resolved lists. In the list `denies`, `!P` is an
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
        """Return the expected allowed and matched_rule for each path."""
        return {path: self.decide(path) for path in self.paths}

    def entries(self) -> list[tuple[object, str]]:
        """Return the resolved list: each entry, with its rule without `!`."""
        own = [(rule, rule.removeprefix("!")) for rule in self.profile]
        return own + [
            ({"except": deny[1:]}, deny[1:]) if deny.startswith("!") else (f"!{deny}", deny)
            for deny in self.denies
        ]

    def decide(self, path: str, fold: bool = False) -> tuple[bool, str]:
        """Return the expected allowed and matched_rule for a path. The rule keeps its spelling."""
        made = oracle.fold if fold else str
        own = [made(rule) for rule in self.profile]
        denies = [made(deny) for deny in self.denies]
        decision = oracle.decide(own, denies, made(path))
        written = {made(deny).removeprefix("!"): deny for deny in (*self.profile, *self.denies)}
        matched = decision.matched_rule
        return decision.allowed, written.get(matched, matched).removeprefix("!")


def many_rules(
    chance: random.Random, count: int, holes: Sequence[str] = HOLES, loud: bool = False
) -> ManyRules:
    """Return a policy with `count` rules for modify. Only modify has exceptions.

    loud: True for names with capital letters.
    """
    where = list(RULES)
    bodies = list(dict.fromkeys(body(chance, chance.choice(where)) for _ in range(count)))
    if loud:
        bodies = [each.upper() for each in bodies]
    third = len(bodies) // 3
    profile = ["**", *(chance.choice(["", "!"]) + each for each in bodies[: 2 * third])]
    above, below = bodies[2 * third :: 2], bodies[2 * third + 1 :: 2]
    # With these last rules of the profile, the decisions inside and outside of an exception always
    # differ.
    profile += OPEN if holes else []
    # A deny of every path would decide every check, so it is left out.
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
    return ManyRules(spec, workspace, profile, [*above, *holes, *below], paths)
