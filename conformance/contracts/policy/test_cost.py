"""POLICY-COST: no pattern, path or list of rules makes the engine explode."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from boxspec.api import Box, doubled, expect, requires
from contracts.policy.api import Group, judge, one_profile, questions, vectors


@vectors("POLICY-COST")
def test_the_vectors_are_answered(box: Box, group: Group) -> None:
    judge(box, group)


# Twice the input may cost twice as much, and something for what is measured beside it. A square
# would be 4.
RATIO = 3.2
SPARE_MS = 1.0

PATTERNS: dict[str, Callable[[int], str]] = {
    "stars between literals": lambda n: "a*" * 10 * n + "b",
    "stars and question marks": lambda n: "*?" * 10 * n + "b",
    "double stars between literals": lambda n: "a**" * 10 * n + "b",
    "stars in front of a suffix": lambda n: "*a" * 10 * n + "*b",
    "segments of double stars": lambda n: "**/a/" * 10 * n + "b",
    "segments of stars": lambda n: "*/" * 10 * n + "**/b",
}


def path_of(n: int, number: int, folders: bool) -> str:
    # The end tells the paths of a request apart.
    return f"{'a/' * 250 * n}{number}" if folders else f"{'a' * 500 * n}{number}"


def judged(what: str, costs: tuple[float, float]) -> None:
    once, twice = costs
    expect(
        f"cost of {what}, twice as large, in ms",
        twice <= RATIO * once + SPARE_MS,
        True,
        {"once": f"{once:.3f} ms", "twice": f"{twice:.3f} ms", "ratio": f"{twice / once:.2f}"},
    )


@requires("POLICY-COST-01")
@pytest.mark.parametrize("shape", PATTERNS)
def test_a_glob_costs_no_more_than_linear_in_the_path(box: Box, shape: str) -> None:
    pattern = PATTERNS[shape](1)

    def question(times: int, size: int) -> object:
        folders = "segments" in shape
        return box.policy.match(
            pattern, [path_of(size, number, folders) for number in range(times)]
        )

    judged(f"{shape} against a path", doubled(box, question))


@requires("POLICY-COST-01")
@pytest.mark.parametrize("shape", PATTERNS)
def test_a_glob_costs_no_more_than_linear_in_the_pattern(box: Box, shape: str) -> None:
    def question(times: int, size: int) -> object:
        folders = "segments" in shape
        paths = [path_of(1, number, folders) for number in range(times)]
        return box.policy.match(PATTERNS[shape](size), paths)

    judged(f"{shape}, of the pattern", doubled(box, question))


# Lists that are hostile to one way or another of compiling them.
LISTS: dict[str, Callable[[int], str]] = {
    "names": lambda number: f"src/{number}/**",
    "suffixes": lambda number: f"**/*.{number}",
    "any place": lambda number: f"**/n{number}/**",
    "stars on both sides": lambda number: f"*{number}*",
    "the n-th character from the end": lambda number: f"**/*a{'?' * (number % 24)}{number}",
}
COUNT = 150


@requires("POLICY-COST-02")
@pytest.mark.parametrize("shape", LISTS)
def test_a_policy_of_many_rules_costs_no_more_than_linear(box: Box, shape: str) -> None:
    refused = False

    def question(times: int, size: int) -> object:
        nonlocal refused
        rules = [LISTS[shape](number) for number in range(COUNT * size)]
        policy = one_profile(read=["**"], modify=[], deny_read=rules, deny_modify=rules)
        answer = box.policy.ask(
            "policy.check",
            policy=policy,
            checks=questions("read", [f"a/{'a' * 20}{number}" for number in range(times)]),
        )
        refused = refused or not answer.ok
        return answer

    costs = doubled(box, question)
    # A stated budget is an answer too.
    if not refused:
        judged(f"a check with rules of {shape}", costs)
