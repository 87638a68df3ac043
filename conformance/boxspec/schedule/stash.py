"""Data that the plugin attaches to each test."""

from __future__ import annotations

import pytest

from boxspec.judge.record import Record
from boxspec.schedule.worker import ClosedCase
from boxspec.subject.case import Case

# The case of the test, or the result of a case that ran in the worker process.
CASE = pytest.StashKey[Case | ClosedCase]()
RECORD = pytest.StashKey[Record]()
# Duration of the body in the thread that ran it.
SECONDS = pytest.StashKey[float]()
# The cases of all attempts, with the last one.
CASES = pytest.StashKey[list[Case | ClosedCase]]()
# Set if an attempt was late and a later one conformed: a text about the late attempts.
LATE = pytest.StashKey[str]()
