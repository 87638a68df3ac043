"""SBPL-FILE-06: texts with deeply nested filters."""

from __future__ import annotations

import pytest

from boxspec.api import expect, requires
from contracts.sbpl.client import SbplCase

DEPTHS = [20, 1_000, 100_000]


@requires("SBPL-FILE-06", needs=["SBPL-FILE-01"])
@pytest.mark.parametrize("depth", DEPTHS)
def test_a_writable_file_is_named_at_any_depth(case: SbplCase, depth: int) -> None:
    place = case.tmp / "profiles"
    place.mkdir()
    nested = "(require-any " * depth + f'(subpath "{place}")' + ")" * depth
    text = f"(version 1)\n(deny default)\n(allow file-write* {nested})\n"
    answer = case.sbpl.wrap(["x"], text=text, dir=place, wrapper="present")
    named = [str(place) in each for each in answer.result["warnings"]]
    expect("whether a warning names the file", named, [True], {"depth": depth})
