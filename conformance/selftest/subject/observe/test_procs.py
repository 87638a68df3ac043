"""Tests of reading /proc: which process has not reaped a zombie."""

from __future__ import annotations

import pytest

from boxspec.subject.observe.procs import Proc, uncollected

SHIM, WARDEN = 20, 10


def process(state: str, parent: int, threads: int = 1) -> Proc:
    return Proc(30, parent, 30, 30, state, 0, threads, "sleep")


@pytest.mark.parametrize(
    ("each", "is_left"),
    [
        (process("Z", SHIM), True),
        # The warden will reap the zombie later, so it does not count.
        (process("Z", WARDEN), False),
        (process("S", SHIM), False),
        (process("Z", SHIM, threads=2), False),
    ],
    ids=["of the shim", "of the warden", "alive", "with threads that live on"],
)
def test_a_zombie_belongs_to_the_parent_that_does_not_reap_it(each: Proc, is_left: bool) -> None:
    assert uncollected([each], WARDEN) == [each] * is_left
