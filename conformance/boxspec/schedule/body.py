"""The body of a test, separated from pytest, so that it can run in any thread and any number of
times."""

from __future__ import annotations

import contextlib
import inspect
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from boxspec.judge.record import Record, plain
from boxspec.judge.requirements import contract_of, load
from boxspec.judge.requires import Requires
from boxspec.judge.verdict import BROKEN, Late, NotApplicable, NotMeasured, Verdict
from boxspec.schedule.worker import ClosedCase
from boxspec.subject.attempt import FIRST
from boxspec.subject.case import Case
from boxspec.subject.contract import find
from boxspec.subject.room import is_full
from boxspec.subject.session import Session


@cache
def _names(function: Callable[..., object]) -> tuple[str, ...]:
    """Return the names of the function's arguments.

    The names are cached, because pytest makes many items of one parametrized function.
    """
    return tuple(inspect.signature(function).parameters)


class Body:
    """The function of a test, with all its arguments except the case."""

    @staticmethod
    def is_portable(item: pytest.Item) -> bool:
        """True if the test needs no fixtures except its case and its parameters."""
        return not Body._fixtures(item)

    @staticmethod
    def _fixtures(item: pytest.Item) -> list[str]:
        assert isinstance(item, pytest.Function)
        params = item.callspec.params if hasattr(item, "callspec") else {}
        return [name for name in _names(item.obj) if name != "case" and name not in params]

    def __init__(self, item: pytest.Item, marked: Requires) -> None:
        assert isinstance(item, pytest.Function)
        params = dict(item.callspec.params) if hasattr(item, "callspec") else {}
        names = _names(item.obj)
        fixtures = self._fixtures(item)
        if fixtures:
            raise pytest.UsageError(
                f"{item.nodeid}: an overlapping test uses only case and parameters, not {fixtures}"
            )
        self.needs_case = "case" in names
        self.arguments = {name: params[name] for name in names if name != "case"}
        self.function = item.obj
        self.marked = marked

    def run(self, case: Case) -> None:
        check_applicable(self.marked, case.session)
        case.topic, case.needs_s = self.marked.topic, self.marked.seconds
        case.deciding = self.marked.ids
        given: dict[str, Any] = dict(self.arguments)
        if self.needs_case:
            given["case"] = case
        with (
            case.session.hangs.turn(case.topic)
            if case.attempt == FIRST
            else contextlib.nullcontext(),
            case.session.delays.watch(case),
        ):
            self.function(**given)

    def run_and_sweep(self, case: Case) -> float:
        """Run the body, end the processes of the case, and return the duration in seconds."""
        start = time.monotonic()
        try:
            self.run(case)
            return time.monotonic() - start
        finally:
            case.seconds = time.monotonic() - start
            case.sweep()


def run_in_worker(item: pytest.Item, marked: Requires, case: Case, *, keep: bool) -> dict[str, Any]:
    """Run a body in the worker process, close its case, and return the result.

    The worker sends the result to the main process.
    """
    answer: dict[str, Any] = {}
    try:
        Body(item, marked).run_and_sweep(case)
    except Late as why:
        answer["late"] = plain(vars(why))
    except BaseException as why:
        record = Record("", [])
        record_exception(record, why, case)
        answer["failure"] = record.changed_fields()
        keep = keep or record.folder is not None
    case.close(keep=keep)
    left = ClosedCase(case.seconds, case.shim_seconds, case.questions, case.measured())
    return {**answer, "left": vars(left)}


def record_exception(record: Record, why: BaseException, case: Case | None) -> None:
    """Record the exception that a body raised, with facts about its case."""
    if case is not None and not isinstance(why, NotMeasured | NotApplicable):
        place = case.session.root.parent
        if is_full(place):
            # The files of the shim may not have fitted either.
            why = NotMeasured(f"{place} is full: free space, or name another folder")
    record.set_verdict(why)
    if case is None or record.verdict in (Verdict.NOT_MEASURED, Verdict.NOT_APPLICABLE):
        return
    record.request = case.request_text(why)
    if record.verdict in BROKEN:
        record.evidence = {**case.outside(why), **record.evidence}
    if record.verdict in BROKEN or record.verdict is Verdict.HARNESS_ERROR:
        record.folder = str(case.kept)


def case_class(marked: Requires | None) -> type[Case]:
    """Return the class for the cases of a test. The class has the client of the test's contract."""
    return Case if marked is None else find(contract_of(marked.ids[0])).case_class()


def check_applicable(marked: Requires, shim: Session) -> None:
    missing = [name for name in needed_capabilities(marked) if name not in shim.capabilities]
    if missing:
        raise NotApplicable.without(*missing)


def needed_capabilities(marked: Requires) -> list[str]:
    """Return the capabilities that a test needs."""
    names = dict.fromkeys(marked.capabilities)
    for each in marked.ids:
        names.update(dict.fromkeys([load()[each].capability or contract_of(each)]))
    contract = find(contract_of(marked.ids[0]))
    # A shim can have some capabilities without their contract. All other capabilities also need
    # the contract.
    if not contract.alone.issuperset(names):
        names.setdefault(contract.name)
    return list(names)
