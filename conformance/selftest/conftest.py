"""A self-test session that is ended by SIGTERM ends what it has started, like one by SIGINT."""

from __future__ import annotations

import signal

import pytest


def pytest_configure(config: pytest.Config) -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
