"""Tests of the loop of `run -x`: it decides the first failure in page order, whichever ends
first."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from boxspec.judge.record import Record
from boxspec.judge.verdict import Verdict
from boxspec.schedule.body import Body
from boxspec.schedule.fail_fast import AHEAD, until_failure
from boxspec.schedule.stash import RECORD

CONFORMS, FAILS = Verdict.CONFORMS, Verdict.FAILS


class Ordered:
    """A session whose tests end in a given order. Each call of record_ended ends the next one.

    ends: the verdicts of the tests in that order. None means that the test is late.
    repeats: the verdicts of the late tests when they are repeated.
    """

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        names: list[str],
        ends: dict[str, Verdict | None],
        repeats: dict[str, Verdict],
    ) -> None:
        self.items: list[Any] = [
            SimpleNamespace(nodeid=name, stash=pytest.Stash()) for name in names
        ]
        self._ends, self._repeats = list(ends.items()), repeats
        self.late: dict[str, float] = {}
        # Tests whose failure does not end the run.
        self.not_counted: set[str] = set()
        self.began: list[str] = []
        self.cancelled: list[str] = []
        self.repeated: list[str] = []
        self.shouldfail = self.shouldstop = False
        monkeypatch.setattr(Body, "is_portable", lambda _: True)

    def _note(self, name: str, verdict: Verdict) -> None:
        item = next(each for each in self.items if each.nodeid == name)
        item.stash[RECORD] = Record(name, [], verdict=verdict)

    def record_ended(self, timeout_s: float) -> None:
        name, verdict = self._ends.pop(0)
        if verdict is None:
            self.late[name] = 1.0
        else:
            self._note(name, verdict)

    def repeat_late(self, _: object, item: pytest.Item) -> None:
        self.repeated.append(item.nodeid)
        del self.late[item.nodeid]
        self._note(item.nodeid, self._repeats[item.nodeid])

    def cancel(self, name: str) -> None:
        self.cancelled.append(name)

    def run(self) -> list[str]:
        """Return the names of the tests that are cut off."""
        this: Any = self
        return until_failure(
            this,
            self.items,
            this,
            this,
            lambda some: self.began.extend(e.nodeid for e in some),
            lambda record: record.id not in self.not_counted,
        )


@pytest.mark.parametrize(
    ("ends", "repeats", "cut"),
    [
        pytest.param(
            {"c": FAILS, "b": CONFORMS, "a": CONFORMS}, {}, ["d"], id="a later failure waits"
        ),
        pytest.param(
            {"c": FAILS, "a": FAILS}, {}, ["b", "c", "d"], id="an earlier failure replaces it"
        ),
        pytest.param(
            {"a": CONFORMS, "b": CONFORMS, "d": CONFORMS, "c": CONFORMS}, {}, [], id="none fails"
        ),
        pytest.param(
            {"c": FAILS, "a": CONFORMS, "b": None},
            {"b": FAILS},
            ["c", "d"],
            id="a late test fails in its repeat",
        ),
        pytest.param(
            {"c": FAILS, "a": CONFORMS, "b": None},
            {"b": CONFORMS},
            ["d"],
            id="a late test conforms in its repeat",
        ),
        pytest.param(
            {"d": None, "a": None, "c": FAILS, "b": CONFORMS},
            {"a": FAILS},
            ["b", "c", "d"],
            id="a late test after the failure is not repeated",
        ),
    ],
)
def test_the_first_failure_on_the_page_decides(
    ends: dict[str, Verdict | None],
    repeats: dict[str, Verdict],
    cut: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tests = Ordered(monkeypatch, list("abcd"), ends, repeats)
    assert tests.run() == cut
    assert tests.repeated == list(repeats)
    assert set(tests.cancelled) <= set(cut)


def test_a_failure_that_does_not_count_does_not_end_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ends = {"a": FAILS, "b": CONFORMS, "c": FAILS, "d": CONFORMS}
    tests = Ordered(monkeypatch, list("abcd"), {**ends}, {})
    tests.not_counted = {"a"}
    assert tests.run() == ["d"]


def test_a_long_test_starts_only_near_the_tests_that_decide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [f"{number:03}" for number in range(2 * AHEAD)]
    tests = Ordered(monkeypatch, names, {"001": CONFORMS, "000": FAILS}, {})
    tests.run()
    assert tests.began == names[:AHEAD]
