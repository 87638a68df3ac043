"""Tests of the estimate how long the repeats of late tests take."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from boxspec.judge.requires import Requires
from boxspec.schedule.recording import SHORT_S, Recorder


class Item:
    """A test with a mark, as the recorder needs it."""

    def __init__(self, name: str, marked: Requires) -> None:
        self.nodeid, self._mark = name, SimpleNamespace(args=[marked])

    def get_closest_marker(self, _: str) -> Any:
        return self._mark


def test_a_repeat_takes_as_long_as_on_an_idle_machine() -> None:
    items = [
        Item("long", Requires(("EXEC-KILL-01",), overlap=True, seconds=3.0)),
        Item("short", Requires(("EXEC-KILL-01",))),
        Item("quick", Requires(("EXEC-KILL-01",))),
    ]
    recorder = Recorder(cast(Any, SimpleNamespace(items=items)), cast(Any, None))
    # Many other tests ran at the same time as the first attempts.
    recorder.late.update(long=20.0, short=20.0, quick=SHORT_S / 2)
    assert recorder.repeats_s() == 3.0 + SHORT_S + SHORT_S / 2
