"""Tests of the pool that runs late tests again: which tests it takes, how many run at once, and
which session has their cases."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from functools import partial
from typing import Any, cast

import pytest

from boxspec.judge.verdict import Failure, Late
from boxspec.schedule.retry_pool import AT_ONCE, RetryPool, has_hung

SHIM = cast(Any, None)


class FakeCase:
    def __init__(self, _: object, name: str, *, attempt: Any) -> None:
        self.name, self.attempt = name, attempt
        self.closed = 0

    def close(self, *, keep: bool) -> None:
        assert not keep
        self.closed += 1


class Bodies:
    """Test bodies that wait for each other at a barrier."""

    def __init__(self, together: int) -> None:
        self.barrier = threading.Barrier(together)
        self.names = list[str]()

    def of(self, *names: str) -> dict[str, Any]:
        return {name: (FakeCase, partial(self.run, name)) for name in names}

    def run(self, name: str, case: FakeCase) -> float:
        assert (case.name, case.attempt.number, case.attempt.alone) == (name, 2, False)
        self.names.append(name)
        self.barrier.wait(30)
        if "fails" in name:
            raise Failure("it", "a result", "none")
        return 0.5


@pytest.fixture
def made() -> RetryPool:
    return RetryPool()


def test_all_that_hung_run_together_and_each_once(made: RetryPool) -> None:
    # With fewer bodies at once the barrier would never open.
    names = [f"test {number}" for number in range(2 * AT_ONCE)]
    bodies = Bodies(AT_ONCE)
    made.run(bodies.of(*names), SHIM, 0.0)
    made.run(bodies.of(*names), SHIM, 0.0)
    assert sorted(bodies.names) == sorted(names)
    assert made.take_over("another") is None
    for name in names:
        taken = made.take_over(name)
        assert taken is not None
        assert taken[1].result() == 0.5


def test_a_case_is_its_takers_and_the_others_are_closed_at_the_end(made: RetryPool) -> None:
    made.run(Bodies(2).of("conforms", "fails"), SHIM, 0.0)
    taken = made.take_over("fails")
    assert taken is not None
    case, future = taken
    with pytest.raises(Failure):
        future.result()
    assert made.take_over("fails") is None
    left = made._cases["conforms"]
    made.cancel()
    made.close()
    assert (cast(Any, case).closed, cast(Any, left).closed) == (0, 1)


def ended(why: BaseException | None) -> Future[float]:
    future: Future[float] = Future()
    if why is None:
        future.set_result(0.5)
    else:
        future.set_exception(why)
    return future


def test_only_undecided_hangs_run_again() -> None:
    assert has_hung(ended(Late("it", "soon", "not soon", hang=True)))
    assert not has_hung(ended(Late("it", "soon", "late", hang=False)))
    assert not has_hung(ended(Failure("it", "soon", "not soon")))
    assert not has_hung(ended(None))
    assert not has_hung(None)
    assert not has_hung(Future())
    cancelled: Future[float] = Future()
    cancelled.cancel()
    assert not has_hung(cancelled)
