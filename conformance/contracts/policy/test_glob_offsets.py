"""POLICY-GLOB: short globs, and paths of every length and depth."""

from __future__ import annotations

import pytest

from boxspec.api import expect, requires
from contracts.policy.api import offsets
from contracts.policy.client import PolicyCase


@requires("POLICY-GLOB-11")
@pytest.mark.parametrize("glob", offsets.SHAPES)
def test_a_glob_matches_at_every_offset_of_a_path(case: PolicyCase, glob: str) -> None:
    hits, misses = map(offsets.padded, offsets.SHAPES[glob])
    wanted = dict.fromkeys(hits, True) | dict.fromkeys(misses, False)
    got = dict(zip(wanted, case.policy.match(glob, [*wanted]), strict=True))
    wrong = [path for path, right in wanted.items() if got[path] is not right]
    path = min(wrong, key=len, default="")
    expect(
        f"whether {glob!r} matches {path!r}",
        got.get(path),
        wanted.get(path),
        {"asked": len(wanted), "wrong": wrong[:20]},
    )
