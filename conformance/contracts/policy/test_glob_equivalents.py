"""POLICY-GLOB-11: globs that an engine may confuse, and globs of every size."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from boxspec.api import expect, requires
from contracts.policy.api import oracle, readings
from contracts.policy.client import PolicyCase
from contracts.shared import near_globs

PATHS = [
    ".",
    *near_globs.paths(near_globs.NAMES, 1, 2, 3),
    "a/b/ab/a/b",
]


def compare(case: PolicyCase, pattern: str, paths: list[str]) -> None:
    """Fail if the shim and the oracle disagree about a path."""
    asked = [path for path in paths if readings.readable(case, pattern, path)]
    if not asked:
        return
    got = dict(zip(asked, case.policy.match(pattern, asked), strict=True))
    wrong = {path: met for path, met in got.items() if met is not oracle.matches(pattern, path)}
    expect(f"paths that {pattern!r} matches wrongly", wrong, {})


def is_decided(pattern: str) -> bool:
    # The contract does not say whether `**/**` matches the root.
    return oracle.normal_body(pattern) == pattern and not pattern.startswith("**/**")


@requires("POLICY-GLOB-11")
@pytest.mark.parametrize("first", near_globs.SEGMENTS)
def test_no_pair_of_segments_is_simplified(case: PolicyCase, first: str) -> None:
    for pattern in filter(is_decided, near_globs.globs_from(first)):
        compare(case, pattern, PATHS)


# At these numbers of parts a mask, a byte or a table of an engine is full.
SIZES = (1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257)
# For each kind: a function that makes a glob with N parts, and a function that makes a path which
# the glob matches.
LONG: dict[str, tuple[Callable[[int], str], Callable[[int], str]]] = {
    "names": (lambda n: "a/" * n + "b", lambda n: "a/" * n + "b"),
    "stars": (lambda n: "a*" * n + "b", lambda n: "ax" * n + "b"),
    "question marks": (lambda n: "?" * n + "b", lambda n: "x" * n + "b"),
    "any names": (lambda n: "*/" * n + "b", lambda n: "x/" * n + "b"),
    "double stars": (lambda n: "**/a/" * n + "b", lambda n: "a/x/" * (n - 1) + "a/b"),
    "names and a star": (lambda n: "a/" * n + "*b", lambda n: "a/" * n + "xb"),
    "double stars in names": (lambda n: "a**" * n + "b", lambda n: "a/" * n + "b"),
    "stars between slashes": (lambda n: "x*y/" * n + "**", lambda n: "xzy/" * n + "k"),
}


@requires("POLICY-GLOB-11")
@pytest.mark.parametrize("kind", LONG)
def test_globs_of_every_number_of_parts_match(case: PolicyCase, kind: str) -> None:
    chance = random.Random(case.session.seed)
    made, matching = LONG[kind]
    # The oracle needs cubic time for consecutive stars, so their number is limited.
    most = 33 if "star" in kind else SIZES[-1]
    for count in (size for size in SIZES if size <= most):
        path = matching(count)
        at = chance.randrange(len(path))
        paths = [path, f"{path}x", f"x{path}", path[:-1] + "c", path[:at] + "q" + path[at + 1 :]]
        paths += [matching(count + 1), f"{path}/b"]
        paths += [matching(count - 1)] if count > 1 else []
        normal = [
            each for each in dict.fromkeys(paths) if oracle.normal_path(each.encode()) == each
        ]
        compare(case, made(count), normal)


STARS_PLACES = ("{}", "{}/x", "a/{}", "a/{}/x", "a{}", "{}x", "a{}x", "{}/a/{}", "a/{}/*/{}")
STARS_PATHS = [".", "a", "x", "b", "a/x", "ax", "a/b/x", "a/b", "x/a", "b/a/x", "abx", "a/b/c/x"]


@requires("POLICY-GLOB-09")
@pytest.mark.parametrize("place", STARS_PLACES)
def test_every_number_of_stars_is_read_as_two(case: PolicyCase, place: str) -> None:
    for count in (3, 4, 5, 6, 7, 8, 9, 10, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 255, 257):
        got = case.policy.match(place.replace("{}", "*" * count), STARS_PATHS)
        wanted = case.policy.match(place.replace("{}", "**"), STARS_PATHS)
        expect(f"the matches of {place!r} with {count} stars", got, wanted)


@requires("POLICY-GLOB-10")
def test_no_glob_that_needs_a_name_matches_the_root(case: PolicyCase) -> None:
    for pattern in ("*", "?", "*/**", "?/**", "**/*", "**/?", "*/*", "**/*/**", "?*", "a/**"):
        expect(f"whether {pattern} matches the root", case.policy.match(pattern, ["."]), [False])
    for pattern in (".", "**"):
        expect(f"whether {pattern} matches the root", case.policy.match(pattern, ["."]), [True])
