"""POLICY-GLOB: the paths that a glob matches."""

from __future__ import annotations

import itertools
import random
import re

import pytest

from boxspec.api import expect, law, requires
from contracts.policy.api import Group, judge, oracle, readings, vectors
from contracts.policy.client import PolicyCase


@vectors("POLICY-GLOB")
def test_the_vectors_are_answered(case: PolicyCase, group: Group) -> None:
    judge(case, readings.askable(case, group))


# Some regular expression engines treat these characters as line ends. Their dot does not match line
# ends.
ENDS = ["\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"]


@requires("POLICY-GLOB-08")
@pytest.mark.parametrize("end", ENDS, ids=[ascii(each) for each in ENDS])
def test_stars_match_line_ends(case: PolicyCase, end: str) -> None:
    for glob, path in (
        ("a**b", f"a{end}b"),
        ("a**b", f"a/x{end}/b"),
        ("x/a**", f"x/a{end}"),
        ("**b", f"{end}/b"),
    ):
        found = case.policy.match(glob, [path, f"{path}x/c", "c"])
        expect(f"whether {glob!r} matches {path!r}", found, [True, glob == "x/a**", False])


# Globs and paths are in normal form, because other topics test other spellings.
ALPHABET = "ab/*?."
PATTERNS_TRIED = 160
PATHS = sorted(
    {
        "".join(word)
        for length in range(1, 6)
        for word in itertools.product("ab/.", repeat=length)
        if oracle.normal_path("".join(word).encode()) == "".join(word)
    }
)


def is_normal(pattern: str) -> bool:
    # The contract does not say whether `**/**` matches the root.
    return oracle.normal_body(pattern) == pattern and not pattern.startswith("**/**")


def compare(case: PolicyCase, pattern: str, paths: list[str]) -> None:
    """Compare the shim with the oracle. Skip paths for which the shim is known to misread a part of
    the glob."""
    paths = [path for path in paths if readings.readable(case, pattern, path)]
    if not paths:
        return
    answers = dict(zip(paths, case.policy.match(pattern, paths), strict=True))
    wanted = {path: oracle.matches(pattern, path) for path in paths}
    wrong = [path for path in paths if answers[path] is not wanted[path]]
    path = min(wrong, key=len, default=None)
    expect(
        f"whether {pattern!r} matches {path!r}",
        path and answers[path],
        path and wanted[path],
        {"asked": len(paths), "wrong": wrong[:20]},
    )


@requires("POLICY-GLOB-11")
def test_short_globs_match_short_paths_as_the_oracle(case: PolicyCase) -> None:
    readings.anchored(case)
    patterns = [
        "".join(word)
        for length in range(1, 6)
        for word in itertools.product(ALPHABET, repeat=length)
        if is_normal("".join(word))
    ]
    chosen = random.Random(case.session.seed)
    short = [pattern for pattern in patterns if len(pattern) <= 2]
    for pattern in short + chosen.sample(patterns, PATTERNS_TRIED):
        compare(case, pattern, [*chosen.sample(PATHS, 60), "."])


TOKENS = ["a", "b", "ab", ".", "/", "/", "*", "?", "**", "**/", "/**", "/**/"]


def long_pattern(chance: random.Random) -> str:
    while True:
        tokens = chance.choices(TOKENS, k=chance.randint(2, 9))
        made = oracle.normal_body("".join(tokens).lstrip("/")) or ""
        if is_normal(made):
            return made


def name(chance: random.Random) -> str:
    made = "".join(chance.choices("ab.", k=chance.randint(1, 3)))
    return made if made.strip(".") else made + "b"


def some_paths(chance: random.Random, count: int) -> list[str]:
    made = ("/".join(name(chance) for _ in range(chance.randint(1, 5))) for _ in range(count))
    return list(dict.fromkeys(made))


def made_to_match(chance: random.Random) -> tuple[str, list[str]]:
    """Make a glob and paths. Half of the paths are derived from the glob."""
    pattern = long_pattern(chance)
    made = []
    for _ in range(8):
        path = re.sub(r"\*+", lambda _: name(chance), pattern).replace("?", "a")
        if oracle.normal_path(path.encode()) == path:
            made.append(path)
    return pattern, list(dict.fromkeys(made + some_paths(chance, 8)))


@requires("POLICY-GLOB-11")
def test_longer_globs_match_as_the_oracle(case: PolicyCase) -> None:
    readings.anchored(case)
    law(case, made_to_match, lambda example: compare(case, *example), examples=40)


@requires("POLICY-GLOB-11")
def test_expensive_globs_get_the_right_answer(case: PolicyCase) -> None:
    readings.answers_of_cost(case)


CHARACTERS = "aB.[]{}+()^$|-!,#é😀\n"


def texts_in_normal_form(chance: random.Random) -> list[str]:
    made: dict[str, None] = {}
    while len(made) < 12:
        text = "".join(chance.choices(CHARACTERS, k=chance.randint(1, 6)))
        if oracle.normal_path(text.encode()) == text and oracle.normal_body(text) == text:
            made[text] = None
    return [*made]


@requires("POLICY-GLOB-01")
def test_text_without_wildcards_matches_itself_only(case: PolicyCase) -> None:
    def holds(texts: list[str]) -> None:
        for text in texts[:3]:
            met = [
                path for path, met in zip(texts, case.policy.match(text, texts), strict=True) if met
            ]
            expect(f"what {text!r} matches", met, [text], {"of": texts})

    law(case, texts_in_normal_form, holds)


@requires("POLICY-GLOB-08")
def test_two_stars_match_everything(case: PolicyCase) -> None:
    paths = some_paths(random.Random(case.session.seed), 200)
    expect("answers of `**` to 200 paths", set(case.policy.match("**", paths)), {True})


def grown(case: PolicyCase, glob: str, pattern: str, met: list[str], more: list[str]) -> None:
    """Fail unless `glob` matches all paths in `more`: those that `pattern` matches, and longer
    ones."""
    if more:
        expect(
            f"whether {glob!r} matches what {pattern!r} matches, and more",
            dict(zip(more, case.policy.match(glob, more), strict=True)),
            dict.fromkeys(more, True),
            {"matched": met},
        )


@requires("POLICY-GLOB-06")
def test_double_star_slash_in_front_adds_any_segments(case: PolicyCase) -> None:
    def holds(example: tuple[str, list[str]]) -> None:
        pattern, paths = example
        met = [
            path for path, met in zip(paths, case.policy.match(pattern, paths), strict=True) if met
        ]
        grown(case, f"**/{pattern}", pattern, met, [*met, *(f"x/y/{path}" for path in met)])

    law(case, made_to_match, holds)


@requires("POLICY-GLOB-07")
def test_slash_double_star_at_the_end_adds_the_paths_below(case: PolicyCase) -> None:
    def holds(example: tuple[str, list[str]]) -> None:
        pattern, paths = example
        met = [
            path for path, met in zip(paths, case.policy.match(pattern, paths), strict=True) if met
        ]
        grown(case, f"{pattern}/**", pattern, met, [*met, *(f"{path}/x/y" for path in met)])

    law(case, made_to_match, holds)
