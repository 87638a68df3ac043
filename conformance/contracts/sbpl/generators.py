"""Make random setups and paths, for tests that compare a text with the meaning of its policy.

With the variable BOXSPEC_TIMES=N there are N times as many, for an occasional long run.
"""

from __future__ import annotations

import os
import random
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

from contracts.sbpl.client import Setup
from contracts.shared import globs as oracle

# Names without special characters, because the topics FILTER and NAME test special characters.
NAMES = ("a", "b", "c", "src", "lib", "docs", ".env", "k.pem", "main.c")
ENDINGS = ("env", "pem", "c")


def times(count: int) -> int:
    return count * int(os.environ.get("BOXSPEC_TIMES", "1"))


def folder(chance: random.Random, deepest: int = 3) -> str:
    return "/".join(chance.choice(NAMES) for _ in range(chance.randint(1, deepest)))


Shape = Callable[[random.Random], str]
PLAIN_SHAPES: tuple[Shape, ...] = (
    lambda chance: "**",
    lambda chance: folder(chance),
    lambda chance: f"{folder(chance)}/**",
    lambda chance: f"{folder(chance)}/**",
    lambda chance: f"**/{chance.choice(NAMES)}",
    lambda chance: f"**/*.{chance.choice(ENDINGS)}",
    lambda chance: f"{folder(chance, 2)}/*.{chance.choice(ENDINGS)}",
    lambda chance: f"{folder(chance, 2)}/**/{chance.choice(NAMES)}",
)


def rules(
    chance: random.Random, most: int, shapes: Sequence[Shape] = PLAIN_SHAPES, denies: float = 0.4
) -> list[str]:
    """Return random rules. Some of them are negated."""
    found = [chance.choice(shapes)(chance) for _ in range(chance.randint(0, most))]
    return [f"!{rule}" if chance.random() < denies else rule for rule in found]


def setup(chance: random.Random, shapes: Sequence[Shape] = PLAIN_SHAPES) -> Setup:
    """Return a setup with modify rules and denies, in which every file may be read."""
    modify = rules(chance, 4, shapes)
    denies = rules(chance, 3, shapes, 0)
    return Setup(modify=without(modify, denies), deny_modify=denies)


def without(own: Sequence[str], denies: Sequence[str]) -> list[str]:
    """Return the rules of a profile, without those that equal a global deny.

    A profile with such a rule would be refused.
    """
    return [rule for rule in own if rule.removeprefix("!") not in denies]


def exceptions(chance: random.Random, denies: Sequence[str]) -> list[str]:
    """Return the denies. After some of the denies `Q/**` there is an exception inside Q."""
    found: list[str] = []
    for deny in denies:
        found.append(deny)
        place = deny.removesuffix("/**")
        if place != deny and "*" not in place and chance.random() < 0.8:
            inside = f"{place}/{folder(chance, 2)}"
            found.append(f"!{inside}" + chance.choice(["", "/**"]))
    return found


def with_everything(chance: random.Random, shapes: Sequence[Shape] = PLAIN_SHAPES) -> Setup:
    """Return a setup with both kinds of denies, exceptions, and a side root that no deny covers."""
    given = setup(chance, shapes)
    reads = rules(chance, 3, shapes)
    denies = rules(chance, 3, shapes, denies=0)
    return given.but(
        modify=without(given.modify, denies),
        deny_modify=exceptions(chance, given.deny_modify),
        read=["**", *without(reads, [*denies, "**"])],
        deny_read=[deny for deny in denies if deny != "**"],
        side_roots=["/Users/u/side"],
        provider=chance.choice([None, "codex"]),
        env={"HOME": "/Users/u"},
    )


SPECIAL_SHAPES: tuple[Shape, ...] = (
    *PLAIN_SHAPES,
    lambda chance: f"{folder(chance, 1)}/a?c",
    lambda chance: f"**/{chance.choice(NAMES)}/**",
    lambda chance: f"*/{chance.choice(NAMES)}",
    lambda chance: f"{folder(chance, 1)}*/**",
    lambda chance: f"{folder(chance, 1)}/[é].*",
    lambda chance: f"(k+)/{chance.choice(NAMES)}",
    lambda chance: "Ångström/**",
    lambda chance: chance.choice([".", "*", "src**", "**.c"]),
)
HOMES = (
    *("/Users/u", "/Users/u/.codex", "/Users/u/.claude", "/Users/u/.gemini", "/Users/u/.orbit"),
    *("/Users/u/Library/Caches", "/private/tmp", "/private/var/folders/ab", "/dev"),
    *("/opt/codex", "/opt/claude", "/Users/u/project[1]", '/Users/u/(a) \\w"s'),
)
ABOVE = ("/", "/Users", "/private", "/Users/u", "/Users/u/.codex", "/opt", "/private/tmp")


def anything(chance: random.Random) -> Setup:
    """Return a setup with every kind of clause, of root and of state directory."""
    given = with_everything(chance, SPECIAL_SHAPES)
    env = {"HOME": "/Users/u", "CODEX_HOME": "/opt/codex", "CLAUDE_CONFIG_DIR": "/opt/claude"}
    first = chance.choice([[], ["**"]])
    return given.but(
        modify=[*without(first, [*given.deny_modify, *given.deny_read]), *given.modify],
        root=f"{chance.choice(HOMES)}/ws" if chance.random() < 0.7 else chance.choice(ABOVE),
        env={name: value for name, value in env.items() if chance.random() < 0.6},
        side_roots=["/sides/of/codex"],
        case=chance.choice([None, "fold"]),
    )


def shuffled(value: Any, chance: random.Random) -> Any:
    """Return the same JSON with the members of its objects in another order."""
    if not isinstance(value, dict):
        return value
    keys = chance.sample(list(value), len(value))
    return {key: shuffled(value[key], chance) for key in keys}


# Paths --------------------------------------------------------------------------------------


def made_from(chance: random.Random, rule: str) -> str:
    """Return a path that the rule probably matches."""
    body = re.sub(
        r"\*\*/",
        lambda _: chance.choice(["", f"{folder(chance, 2)}/"]),
        rule.removeprefix("!"),
    )
    body = re.sub(r"\*+", lambda _: chance.choice(["", "x"]), body)
    return body.replace("?", "x").strip("/") or oracle.ROOT


def near(chance: random.Random, path: str) -> list[str]:
    """Return the path, a path above it, a path below it, and a path that begins with its text."""
    if path == oracle.ROOT:
        return [path]
    above = path.rpartition("/")[0] or oracle.ROOT
    return [path, above, f"{path}/{chance.choice(NAMES)}", f"{path}2"]


def paths(chance: random.Random, given: Setup, count: int) -> list[str]:
    """Return paths relative to the root in their normal form, including the root."""
    every = [*given.modify, *given.deny_modify, *given.read, *given.deny_read]
    found = [oracle.ROOT]
    for rule in every:
        for _ in range(2):
            found += near(chance, made_from(chance, rule))
    found += [folder(chance, 4) for _ in range(count)]
    normal = [path for path in dict.fromkeys(found) if oracle.normal_path(path.encode()) == path]
    return chance.sample(normal, min(count, len(normal)))


def absolute(given: Setup, path: str) -> str:
    root = str(given.root)
    return root if path == oracle.ROOT else f"{root.rstrip('/')}/{path}"


def glob(chance: random.Random, pieces: Sequence[str]) -> str:
    """Return a glob in normal form. The contract defines its meaning."""
    while True:
        made = "".join(chance.choices(pieces, k=chance.randint(2, 7))).lstrip("/")
        body = oracle.normal_body(made)
        if body is not None and body == made and not body.startswith(("!", "**/**")):
            return body


def begins_no_name_with_a_mark(path: str) -> bool:
    """True if no name begins with a combining mark: the mark would belong to the character
    before."""
    return not any(unicodedata.combining(name[:1] or "a") for name in path.split("/"))
