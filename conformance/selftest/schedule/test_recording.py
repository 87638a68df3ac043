"""Tests of the estimate how long the repeats of late tests take."""

from __future__ import annotations

import queue
from types import SimpleNamespace
from typing import Any, cast

import pytest

from boxspec.judge.requires import Requires
from boxspec.schedule import recording
from boxspec.schedule.recording import EXPECTED_S, SHORT_S, TIMES, Recorder


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
    recorder._recorded, recorder._broken = 40, 10
    assert recorder.repeats_s() == TIMES * (3.0 + SHORT_S + SHORT_S / 2)


def test_the_repeats_that_have_ended_change_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    items = [Item(f"short-{n}", Requires(("EXEC-KILL-01",))) for n in range(7)]
    recorder = Recorder(cast(Any, SimpleNamespace(items=items)), cast(Any, None))
    recorder.late.update({item.nodeid: 20.0 for item in items})
    now = [0.0]

    def take_11_s(*_: object) -> None:
        now[0] += 11.0

    monkeypatch.setattr(recording, "run_one", take_11_s)
    monkeypatch.setattr(recording, "time", SimpleNamespace(monotonic=lambda: now[0]))
    assert recorder.repeats_s() == len(items) * SHORT_S
    for item in items[: int(EXPECTED_S / SHORT_S)]:
        recorder.repeat_late(cast(Any, None), cast(Any, item))
    # Repeats of 5 s took 55 s, and 5 s are expected for further 5 s: the ratio is 60 to 10. The
    # last repeat has ended, so the time since its beginning is not subtracted.
    assert recorder.repeats_s() == 2 * 6.0


def test_the_live_line_does_not_wait_for_all_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: queue.SimpleQueue[str] = queue.SimpleQueue()
    items = [Item(f"short-{n}", Requires(("EXEC-KILL-01",))) for n in range(5)]
    for item in items:
        ended.put(item.nodeid)
    session, state = SimpleNamespace(items=items), SimpleNamespace(ended=ended)
    recorder = Recorder(cast(Any, session), cast(Any, state))
    now, recorded = [0.0], []

    def take_1_s(item: Item) -> None:
        now[0] += 1.0
        recorded.append(item.nodeid)

    monkeypatch.setattr(recorder, "_record", take_1_s)
    monkeypatch.setattr(recording, "time", SimpleNamespace(monotonic=lambda: now[0]))
    recorder.record_ended(most_s=1.5)
    assert len(recorded) == 2
    recorder.record_ended()
    assert recorded == [item.nodeid for item in items]
