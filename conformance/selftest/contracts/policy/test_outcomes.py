"""Tests that share outcomes of vectors: each thread reads only outcomes that are decided."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from boxspec.errors import ShimBroke
from boxspec.judge.verdict import Blocked, Late
from boxspec.subject.session import Session
from contracts.policy import kinds, readings, vectors
from contracts.policy.client import PolicyCase
from contracts.policy.judging import ask
from contracts.policy.kinds import conforms
from selftest.tools import FAKE

GLOB = {"kind": "glob", "pattern": "a", "path": "a", "match": True}
FILE = '{"schemaVersion": 2}'


@pytest.fixture
def session() -> Iterator[Session]:
    made = Session((str(FAKE), "literal"), seed=7)
    made.capabilities = frozenset({"path", "glob", "policy", "policy.load", "policy.json"})
    yield made
    made.close()


@pytest.fixture
def case(session: Session) -> Iterator[PolicyCase]:
    made = PolicyCase(session, "kit")
    yield made
    made.close(keep=False)


def vector(name: str, requirement: str, **fields: Any) -> vectors.Vector:
    entry = {"id": name, "requirement": requirement, "why": "w.", **fields}
    return vectors.Vector(name, (requirement,), fields["kind"], "w.", entry)


COUNTERPART = vector("T-1", "POLICY-GLOB-02", **GLOB)
REFUSAL = vector(
    "V-1", "POLICY-PATH-01", kind="normalize", path="/a", refused=True, counterpart="T-1"
)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    every = {each.id: each for each in (COUNTERPART, REFUSAL)}
    for module in ("judging", "kinds", "readings"):
        monkeypatch.setattr(f"contracts.policy.{module}.every", every.copy)


class HeldQuestion:
    """The question of one thread, which gets no answer before `answer` is called."""

    def __init__(
        self, session: Session, question: Callable[[PolicyCase], object], monkeypatch: Any
    ) -> None:
        self._asked, self._answered = threading.Event(), threading.Event()
        self._case = PolicyCase(session, "held")
        put = self._case.put

        def slow_put(*given: Any) -> Any:
            self._asked.set()
            self._answered.wait(30)
            return put(*given)

        monkeypatch.setattr(self._case, "put", slow_put)
        self._thread = threading.Thread(target=question, args=(self._case,))
        self._thread.start()
        assert self._asked.wait(30)

    def answer(self) -> None:
        self._answered.set()
        self._thread.join()
        self._case.close(keep=False)


@pytest.mark.usefixtures("known")
def test_an_outcome_of_another_thread_counts_only_once_it_is_decided(
    case: PolicyCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = HeldQuestion(case.session, lambda its: conforms(its, COUNTERPART), monkeypatch)
    try:
        ask(case, REFUSAL)
    finally:
        held.answer()


@pytest.mark.usefixtures("known")
def test_a_part_is_not_broken_while_another_thread_asks_it(
    case: PolicyCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = HeldQuestion(case.session, lambda its: conforms(its, COUNTERPART), monkeypatch)
    try:
        assert readings.broken(case) == set()
    finally:
        held.answer()


def test_a_thread_waits_until_another_has_asked_for_the_places(
    case: PolicyCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fake shim loads no file, so its problems have no places."""
    place = vector("P-1", kinds.PLACES, kind="load", format="json", text=FILE, loads=True)
    monkeypatch.setattr(kinds, "every", lambda: {"P-1": place})
    held = HeldQuestion(case.session, lambda its: kinds._tells_places(its, "json"), monkeypatch)
    told: list[bool] = []
    other = threading.Thread(target=lambda: told.append(kinds._tells_places(case, "json")))
    other.start()
    other.join(0.2)
    assert told == []
    held.answer()
    other.join()
    assert told == [False]


@pytest.mark.usefixtures("known")
def test_a_question_that_decides_nothing_leaves_no_outcome(
    case: PolicyCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*_: Any) -> Any:
        raise Late("an answer", "in time", "late")

    with monkeypatch.context() as patch, pytest.raises(Late):
        patch.setattr(case, "put", late)
        conforms(case, COUNTERPART)
    ask(case, REFUSAL)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(("times", "blocks"), [(1, False), (2, True)])
def test_a_counterpart_without_an_answer_is_asked_once_more(
    times: int, blocks: bool, case: PolicyCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, asked = case.put, []

    def hang(message: dict[str, Any], within_s: float | None = None) -> Any:
        asked.append(message)
        if message["op"] == "glob.match" and len(asked) <= 1 + times:
            raise ShimBroke("no answer within 10 s")
        return put(message, within_s)

    monkeypatch.setattr(case, "put", hang)
    if not blocks:
        ask(case, REFUSAL)
        return
    with pytest.raises(Blocked):
        ask(case, REFUSAL)
