"""Run one test by the protocol of pytest."""

from __future__ import annotations

import pytest


def run_one(session: pytest.Session, item: pytest.Item) -> None:
    """Run the protocol of pytest for one test.

    With nextitem=None pytest tears down all fixtures after each test. No fixture is used by more
    than one test.
    """
    session.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
    expect_no_stop(session)


def expect_no_stop(session: pytest.Session) -> None:
    if session.shouldfail:
        raise session.Failed(str(session.shouldfail))
    if session.shouldstop:
        raise session.Interrupted(str(session.shouldstop))
