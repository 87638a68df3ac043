"""Tests of the state of a session, without a session."""

from __future__ import annotations

from typing import Any, cast

import pytest

from boxspec.schedule.session_info import SESSION_INFO
from boxspec.schedule.state import State


class Config:
    def __init__(self) -> None:
        self.stash = pytest.Stash()

    def getoption(self, name: str) -> Any:
        return {"boxspec_jobs": 4}.get(name)


def test_a_repeated_test_counts_as_running() -> None:
    config = Config()
    state = State(cast("pytest.Config", config))
    info = config.stash[SESSION_INFO]
    assert info.running() == 0
    with state.without_other_tests():
        assert info.running() == 1
    assert info.running() == 0
