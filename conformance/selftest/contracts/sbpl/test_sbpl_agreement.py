"""Tests that four independent parts agree on random setups: the profile's compiler, the evaluator
of its text, the oracle, and the policy engine.

BOXSPEC_TIMES=40 makes more than 20,000 pairs of a setup and a path.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest

from boxspec.subject.client.command import shim_argv
from boxspec.subject.session import Session
from boxspec.subject.trust import trust
from contracts.policy.client import PolicyClient, questions
from contracts.sbpl import generators
from contracts.sbpl.client import SbplCase, Setup
from contracts.sbpl.grammar import strange
from contracts.sbpl.meaning import Meaning, within
from contracts.sbpl.text import CHANGES, READS, UNLINK
from selftest.tools import PYTHON_IMPLEMENTATION, REFERENCE

SETUPS, PATHS = 25, 24


@pytest.fixture(params=[REFERENCE, PYTHON_IMPLEMENTATION], ids=["reference", "python"])
def case(request: pytest.FixtureRequest) -> Iterator[SbplCase]:
    session = Session(shim_argv(str(request.param)))
    trust(session, contracts=["policy", "sbpl"])
    made = SbplCase(session, "agreement")
    yield made
    made.close(keep=False)
    session.close()


def paths_of(chance: random.Random, given: Setup) -> list[str]:
    """Return paths below the root (also in other spellings if case is ignored), next to the root,
    and in each other place."""
    relative = generators.paths(chance, given, PATHS)
    if given.case == "fold":
        relative += [spelled(path) for path in relative[:6] for spelled in (str.upper, str.lower)]
    found = [generators.absolute(given, path) for path in dict.fromkeys(relative)]
    places = [*Meaning(given).places(), *map(str, given.side_roots)]
    place = chance.choice(places)
    root = str(given.root)
    # For the root `/` there is no path next to it: `/2` would be below it again.
    beside = "/usr/x" if root == "/" else f"{root}2"
    return [*found, place, f"{place}/x", f"{place}2", "/usr/x", beside]


def test_all_agree_on_writable_readable_and_unlinkable_paths(case: SbplCase) -> None:
    chance = random.Random(20261121)
    asked: Counter[str] = Counter()
    for _ in range(generators.times(SETUPS)):
        given = generators.anything(chance)
        text = case.sbpl.compiled(given)
        assert strange(text.data) == []
        meaning = Meaning(given)
        for path in paths_of(chance, given):
            for kind, names, meant in (
                ("modify", CHANGES, meaning.may_modify),
                ("unlink", (UNLINK,), meaning.may_unlink),
                ("read", READS, meaning.may_read),
            ):
                wanted = meant(path)
                if wanted is not None:
                    text.expect(kind, {path: wanted}, names)
                asked[f"{kind} {wanted}"] += 1
    print(asked)
    # Both answers must occur for each operation, because a test that sees only one of them proves
    # little.
    for kind in ("modify", "unlink", "read"):
        decided = asked[f"{kind} True"] + asked[f"{kind} False"]
        assert min(asked[f"{kind} True"], asked[f"{kind} False"]) > decided / 20, asked
        assert asked[f"{kind} None"] < decided / 4, asked


def test_the_engine_decides_as_the_oracle_does(case: SbplCase) -> None:
    chance = random.Random(20261122)
    for _ in range(generators.times(SETUPS)):
        given = generators.anything(chance).but(provider=None, root="/opt/ws")
        meaning = Meaning(given)
        relative = [path for path in generators.paths(chance, given, PATHS) if "?" not in path]
        modify = PolicyClient(case).allowed(given.policy, questions("modify", relative), given.case)
        for path, allowed in zip(relative, modify, strict=True):
            wanted = meaning.may_modify(generators.absolute(given, path))
            assert wanted in (None, allowed), (given, path)


def test_within_compares_whole_segments() -> None:
    assert within("/a", "/a/b")
    assert within("/", "/a")
    assert not within("/a", "/ab")
