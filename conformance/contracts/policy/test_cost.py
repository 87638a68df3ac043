"""POLICY-COST: no glob, path or list of rules makes an engine slow."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from boxspec.api import Failure, Question, doubled, expect, requires
from contracts.policy.api import Group, judge, one_profile, questions, vectors
from contracts.policy.client import PolicyCase


@vectors("POLICY-COST")
def test_the_vectors_are_answered(case: PolicyCase, group: Group) -> None:
    judge(case, group)


# The cost of an input of twice the size may be twice as high, plus a margin for errors of
# measurement. Quadratic cost would be four times as high.
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


def path_of(n: int, number: int, folders: bool, mark: str) -> str:
    # With the text at the end, each path of each request is new.
    return f"{'a/' * 250 * n}{number}{mark}" if folders else f"{'a' * 500 * n}{number}{mark}"


def from_size(question: Question, first: int) -> Question:
    return lambda times, size, mark: question(times, first * size, mark)


def judged(case: PolicyCase, what: str, question: Question) -> None:
    """Fail if the cost grows too fast in both of two measurements.

    A single jump may be caused by a full cache.
    """
    steps = []
    for first in (1, 2):
        once, twice = doubled(case, from_size(question, first))
        steps.append(f"{once:.3f} ms, twice as large {twice:.3f} ms, {twice / once:.2f} times")
        if twice <= RATIO * once + SPARE_MS:
            return
    expect(
        f"how the cost of {what} grows",
        "faster than its size",
        "in proportion to its size",
        {"steps": steps},
    )


@requires("POLICY-COST-01")
@pytest.mark.parametrize("shape", PATTERNS)
def test_a_glob_costs_no_more_than_linear_in_the_path(case: PolicyCase, shape: str) -> None:
    def question(times: int, size: int, mark: str) -> object:
        folders = "segments" in shape
        paths = [path_of(size, number, folders, mark) for number in range(times)]
        return case.policy.match(PATTERNS[shape](1) + mark, paths)

    judged(case, f"{shape} against a path", question)


@requires("POLICY-COST-01")
@pytest.mark.parametrize("shape", PATTERNS)
def test_a_glob_costs_no_more_than_linear_in_the_pattern(case: PolicyCase, shape: str) -> None:
    def question(times: int, size: int, mark: str) -> object:
        folders = "segments" in shape
        paths = [path_of(1, number, folders, mark) for number in range(times)]
        return case.policy.match(PATTERNS[shape](size) + mark, paths)

    judged(case, f"{shape}, of the pattern", question)


@requires("POLICY-COST-01", capability=("glob", "policy.fold"))
def test_combining_marks_cost_no_more_than_linear(case: PolicyCase) -> None:
    """Fold a letter with many marks, each of which has to be moved over half of the others."""

    def question(times: int, size: int, mark: str) -> object:
        letter = "a" + "\u0301\u0316" * (1000 * size)
        return case.policy.match(f"k{mark}", [f"{letter}{n}{mark}" for n in range(times)], "fold")

    judged(case, "a match with many marks in the path", question)


# Each of these lists is difficult for one way of compiling lists.
LISTS: dict[str, Callable[[int, str], str]] = {
    "names": lambda number, mark: f"src/{number}{mark}/**",
    "suffixes": lambda number, mark: f"**/*.{number}{mark}",
    "any place": lambda number, mark: f"**/n{number}{mark}/**",
    "stars on both sides": lambda number, mark: f"*{number}{mark}*",
    "the n-th character from the end": lambda number, mark: (
        f"**/*a{'?' * (number % 24)}{number}{mark}"
    ),
}
COUNT = 150


@requires("POLICY-COST-02")
@pytest.mark.parametrize("shape", LISTS)
def test_a_policy_of_many_rules_costs_no_more_than_linear(case: PolicyCase, shape: str) -> None:
    refused = False

    def question(times: int, size: int, mark: str) -> object:
        nonlocal refused
        rules = [LISTS[shape](number, mark) for number in range(COUNT * size)]
        policy = one_profile(read=["**"], modify=[], deny_read=rules, deny_modify=rules)
        answer = case.policy.ask(
            "policy.check",
            policy=policy,
            checks=questions("read", [f"a/{'a' * 20}{number}{mark}" for number in range(times)]),
        )
        refused = refused or not answer.ok
        return answer

    try:
        judged(case, f"a check with rules of {shape}", question)
    except Failure:
        # The shim may refuse the policy if it exceeds a documented budget.
        if not refused:
            raise


# Names that are equal in the part from which an engine may compute a hash.
ALIKE: dict[str, Callable[[int, str], str]] = {
    "that end alike": lambda number, mark: f"{number:06}{mark}{'-' * 26}",
    "that begin and end alike": lambda number, mark: f"{'-' * 16}{number:08}{mark}{'-' * 16}",
}
# Comparing two names is cheap. Only with many names is the difference large enough to measure.
NAMES = 1000


def a_file_of(where: str, names: list[str]) -> dict[str, str]:
    labels = dict.fromkeys(names, "k") if where == "labels" else {}
    profiles: dict[str, object] = {}
    if where == "rules":
        profiles = {"p": {"read": names, "modify": names}}
    denies = [f"k/{name}" for name in names] if where == "rules" else []
    file = {
        "schemaVersion": 2,
        "kind": "Policy",
        "metadata": {"name": "test", "labels": labels},
        "spec": {"denyRead": denies, "denyModify": denies, "fsProfiles": profiles},
    }
    return {"text": json.dumps(file), "format": "json"}


@requires("POLICY-COST-02")
@pytest.mark.parametrize("where", ["labels", "rules"])
@pytest.mark.parametrize("shape", ALIKE)
def test_a_file_of_many_names_costs_no_more_than_linear(
    case: PolicyCase, shape: str, where: str
) -> None:
    def question(times: int, size: int, mark: str) -> object:
        names = [ALIKE[shape](number, mark) for number in range(NAMES * size)]
        return [case.policy.load(a_file_of(where, names)) for _ in range(times)]

    judged(case, f"a file with {where} {shape}", question)
