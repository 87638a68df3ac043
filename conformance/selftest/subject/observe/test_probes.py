"""The table of probes: none is listed that nobody asks, and none accepts what it cannot say."""

from __future__ import annotations

import re

import pytest

from boxspec.places import ROOT
from boxspec.subject.observe.probes import table
from contracts.backend.scene import JUDGED, OBSERVERS, PREPARED

TESTS = ROOT / "conformance" / "contracts" / "backend"
NAMES = ROOT / "fixtures" / "programs" / "lib" / "errors.c"


@pytest.fixture(scope="module")
def asked() -> str:
    return "".join(file.read_text() for file in sorted(TESTS.glob("test_*.py")))


@pytest.mark.parametrize("name", sorted(table()))
def test_a_probe_that_is_listed_is_asked(name: str, asked: str) -> None:
    assert f'"{name}"' in asked


@pytest.mark.parametrize("name", sorted(table()))
def test_what_a_probe_accepts_is_printed_under_that_name(name: str) -> None:
    """Of two names of one number a probe knows one: 95 is EOPNOTSUPP, and never ENOTSUP."""
    printed = set(re.findall(r"NAME\((E\w+)\)", NAMES.read_text()))
    assert table()[name].accepts - printed == set()


@pytest.mark.parametrize("name", sorted(table()))
def test_a_probe_needs_only_what_the_scene_provides(name: str) -> None:
    assert table()[name].needs <= {*OBSERVERS, *PREPARED}


@pytest.mark.parametrize("name", sorted(table()))
def test_a_probe_is_judged_in_a_known_way(name: str) -> None:
    assert table()[name].judged in JUDGED


def test_everything_that_the_scene_provides_is_needed() -> None:
    probes = table().values()
    assert {need for probe in probes for need in probe.needs} == {*OBSERVERS, *PREPARED}
    assert {probe.judged for probe in probes} == JUDGED
