"""The short way of a test through pytest, in the kit's own runs.

Nearly all tests have no fixture but their box. pytest's own way makes fixtures that they do not
use, copies keywords, and asks some fifty hooks for each of its three phases, which took as long as
a short case itself. Nobody reads those reports in a run of the kit: the record is the report. A
test that has anything else goes pytest's way.
"""

from __future__ import annotations

import time

import pytest

from boxspec.judge.marks import Requires
from boxspec.judge.record import Record
from boxspec.judge.verdict import BROKEN, Verdict
from boxspec.schedule.choosing import says
from boxspec.schedule.ending import PROPERTY
from boxspec.schedule.keys import BOX
from boxspec.schedule.turn import blame, give_box_back, look, measure, record_of, take_box

# Marks that do not change how a test is run.
HARMLESS = frozenset({"requires", "timing", "stress", "long", "parametrize"})


class Short:
    """The plugin of this way."""

    def __init__(self) -> None:
        # Where a function stands: most are many tests, and pytest asks for each.
        self._places: dict[object, tuple[str, int | None]] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        marked = says(item)
        if marked is None or not isinstance(item, pytest.Function) or not _has_only_a_box(item):
            return None
        self._place(item)
        record = record_of(item, marked)
        try:
            self._look(item, marked, record)
        finally:
            if BOX in item.stash:
                _closed(item, record)
        bad = record.verdict in BROKEN or record.verdict is Verdict.HARNESS_ERROR
        report = pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords={},
            outcome="failed" if bad else "passed",
            longrepr=record.reason or None,
            when="teardown",
            user_properties=[(PROPERTY, record.to_json())],
        )
        item.config.hook.pytest_runtest_logreport(report=report)
        return True

    @staticmethod
    def _look(item: pytest.Function, marked: Requires, record: Record) -> None:
        began = time.perf_counter()
        try:
            take_box(item)
            began = time.perf_counter()
            assert look(item, marked)
        except (KeyboardInterrupt, pytest.exit.Exception):
            raise
        except BaseException as why:
            measure(item, record, time.perf_counter() - began, passed=False)
            blame(item, record, why)
        else:
            measure(item, record, time.perf_counter() - began, passed=True)

    def _place(self, item: pytest.Function) -> None:
        known = self._places.get(item.function)
        if known is None:
            self._places[item.function] = item.location[:2]
        else:
            item.location = (*known, item.name)


def _closed(item: pytest.Item, record: Record) -> None:
    try:
        give_box_back(item)
    except Exception as why:
        blame(item, record, why)


def _has_only_a_box(item: pytest.Function) -> bool:
    params = item.callspec.params if hasattr(item, "callspec") else {}
    return all(name == "box" or name in params for name in item.fixturenames) and all(
        mark.name in HARMLESS for mark in item.iter_markers()
    )
