"""Coverage instrumentation in the builds of the engines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from boxspec.fuzz import builds
from boxspec.places import ROOT
from selftest.tools import run


def covered(preset: str, archive: str) -> set[str]:
    """Return the members of an archive that report covered edges to an engine."""
    symbols = run(["nm", "-A", "-u", Path(ROOT, "build", preset, "fuzz", archive)]).stdout
    assert symbols
    return set(re.findall(r":(\w+)\.c\.o: .*(?:__sanitizer_cov|__afl)", symbols))


@pytest.mark.parametrize("preset", sorted(builds.PRESETS.values()))
def test_engines_get_coverage_of_the_reference_and_not_of_the_oracles(preset: str) -> None:
    assert {"glob", "automaton", "json"} <= covered(preset, "libboxspec_fuzzed.a")
    assert covered(preset, "libfuzz_support.a") == set()
