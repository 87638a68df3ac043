"""Tests of the table of probes: each listed probe is used, and each accepted error has a name."""

from __future__ import annotations

import re

import pytest

from boxspec.places import ROOT
from boxspec.subject.observe.probes import table
from contracts.backend.scene import JUDGED, OBSERVERS, PREPARED

TESTS = ROOT / "conformance" / "contracts" / "backend"
VERIFY = ROOT / "conformance" / "boxspec" / "verify"
NAMES = ROOT / "fixtures" / "programs" / "lib" / "errors.c"


@pytest.fixture(scope="module")
def asked() -> str:
    files = [*sorted(TESTS.glob("test_*.py")), *sorted(VERIFY.glob("*.py"))]
    return "".join(file.read_text() for file in files)


@pytest.mark.parametrize("name", sorted(table()))
def test_each_listed_probe_is_used(name: str, asked: str) -> None:
    assert f'"{name}"' in asked


@pytest.mark.parametrize("name", sorted(table()))
def test_each_accepted_error_is_printed_by_that_name(name: str) -> None:
    """If a number has two names, the program prints only one of them: 95 is always EOPNOTSUPP,
    never ENOTSUP."""
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
