"""Tests of repeating late tests: in which order they run, and which attempt decides."""

from __future__ import annotations

import os

import pytest

from boxspec.judge.verdict import Failure, Late, NotMeasured
from boxspec.schedule.retry import ATTEMPTS, Retry
from boxspec.subject.attempt import Attempt


class Script:
    """A test body with a prepared exception for each attempt."""

    def __init__(self, *looks: BaseException | None) -> None:
        self.looks = list(looks)
        self.seen: list[Attempt] = []

    def run(self, attempt: Attempt) -> None:
        self.seen.append(attempt)
        raised = self.looks.pop(0)
        if raised is not None:
            raise raised


def late(hang: bool = False) -> Late:
    return Late("it", "soon", "not soon", hang=hang)


def asked(body: Script, first: Late, *, alone: bool = True) -> str:
    return Retry().until_decided(body.run, first, use_realtime=alone)


def test_one_punctual_attempt_is_enough() -> None:
    body = Script(late(), None)
    assert "late in 2 of 3 attempts" in asked(body, late())
    assert [(look.number, look.alone) for look in body.seen] == [(2, True), (3, True)]


def test_an_undecided_test_is_not_measured() -> None:
    body = Script(*[late() for _ in range(ATTEMPTS - 1)])
    with pytest.raises(NotMeasured, match=f"in each of {ATTEMPTS} attempts"):
        asked(body, late())


def test_a_failure_in_any_attempt_is_a_failure() -> None:
    with pytest.raises(Failure):
        asked(Script(late(), Failure("it", "soon", "late by itself", timed=True)), late())


def short_excess() -> Failure:
    return Failure("it", "soon", "a little late", timed=True, short=True)


def test_a_short_excess_fails_only_if_it_shows_twice() -> None:
    assert "late in 2 of 3 attempts" in asked(Script(short_excess(), None), late())
    assert "late in 1 of 2 attempts" in asked(Script(None), Late.once(short_excess()))
    with pytest.raises(Failure, match="a little late"):
        asked(Script(short_excess()), Late.once(short_excess()))
    with pytest.raises(Failure, match="a little late"):
        asked(Script(short_excess(), late(), short_excess()), late())


@pytest.mark.parametrize("use_realtime", [True, False])
def test_a_hang_runs_once_more_and_never_conforms(use_realtime: bool) -> None:
    body = Script(late(hang=True))
    if use_realtime and os.geteuid() != 0:
        pytest.skip("SCHED_FIFO needs root")
    with pytest.raises(Failure if use_realtime else NotMeasured, match="not soon"):
        asked(body, late(hang=True), alone=use_realtime)
    assert len(body.seen) == 1


def test_after_a_hang_a_loop_with_realtime_priority_reaches_the_limit() -> None:
    if os.geteuid() != 0:
        pytest.skip("SCHED_FIFO needs root")
    for hang, flags in ((True, ["--realtime", "--computes", "45"]), (False, ["--realtime"])):
        body = Script(None)
        asked(body, late(hang=hang))
        assert [look.flags for look in body.seen] == [flags]


def asked_beside(came: BaseException | None, *looks: BaseException | None) -> str:
    body = Script(came)

    def beside() -> None:
        body.run(Attempt(2))

    alone = Script(*looks)
    try:
        return Retry().until_decided(alone.run, late(hang=True), pooled=beside, use_realtime=False)
    finally:
        assert [look.number for look in alone.seen] == [*range(3, 3 + len(alone.seen))]


def test_a_concurrent_attempt_decides_like_any_other() -> None:
    assert "late in 1 of 2 attempts" in asked_beside(None)
    with pytest.raises(Failure, match="a result") as caught:
        asked_beside(Failure("it", "a result", "none"))
    assert caught.value.evidence["first attempt"] == "it: not soon"
    assert "late in 2 of 3 attempts" in asked_beside(late(hang=True), None)
    with pytest.raises(NotMeasured, match="in each of 3 attempts"):
        asked_beside(late(hang=True), late(hang=True))


def test_a_failure_with_realtime_priority_runs_again_without_it() -> None:
    if os.geteuid() != 0:
        pytest.skip("SCHED_FIFO needs root")
    wrong = Failure("it", "a result", "killed 9")
    body = Script(wrong, late(), None)
    asked(body, late())
    assert [look.realtime for look in body.seen] == [True, False, False]
