"""Data that the plugin attaches to each test."""

from __future__ import annotations

import pytest

from boxspec.judge.record import Record
from boxspec.schedule.worker import ClosedCase
from boxspec.subject.case import Case

# The case of the test, or the result of a case that ran in the worker process.
CASE = pytest.StashKey[Case | ClosedCase]()
RECORD = pytest.StashKey[Record]()
# The duration of the test body in seconds, as measured in the thread that ran it.
SECONDS = pytest.StashKey[float]()
# The cases of all attempts so far. The last one is the current case.
CASES = pytest.StashKey[list[Case | ClosedCase]]()
# A text about the late attempts, if a later attempt conformed.
LATE = pytest.StashKey[str]()
