"""Run tests for `run -x`, which stops at the first failure. Tests that finish soon come first."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, wait

import pytest

from boxspec.judge.verdict import BROKEN
from boxspec.schedule.body_pool import BodyPool
from boxspec.schedule.selection import requires_of
from boxspec.schedule.stash import RECORD


def until_failure(session: pytest.Session, pool: BodyPool) -> None:
    """Run tests until one fails.

    The result of an overlapping test is read when its body has ended.
    """
    left = sorted(session.items, key=_is_a_law)
    while left:
        item = _next(left, pool)
        left.remove(item)
        # With nextitem=None pytest tears down all fixtures after each test, which is right because
        # no fixture lives longer.
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        record = item.stash.get(RECORD, None)
        if record is not None and record.verdict in BROKEN:
            return
        if session.shouldstop:
            raise session.Interrupted(str(session.shouldstop))


def _is_a_law(item: pytest.Item) -> bool:
    """Property tests try many examples, so tests of a single question come first."""
    marked = requires_of(item)
    return marked is not None and marked.main_thread


def _next(left: list[pytest.Item], pool: BodyPool) -> pytest.Item:
    """Return a test whose body has ended.

    If there is none, return a test for this thread, or else wait for the first body to end.
    """
    running: dict[Future[float], pytest.Item] = {}
    for item in left:
        future = pool.get(item.nodeid)
        if future is not None:
            running[future] = item
    done = next((item for future, item in running.items() if future.done()), None)
    if done is not None:
        return done
    for item in left:
        if item not in running.values():
            return item
    return running[next(iter(wait(running, return_when=FIRST_COMPLETED).done))]
