"""Data that the plugin stores with each test."""

from __future__ import annotations

import pytest

from boxspec.judge.record import Record
from boxspec.schedule.worker import ClosedCase
from boxspec.subject.case import Case

# A case of this process, or the result of a case of the worker process.
CASE = pytest.StashKey[Case | ClosedCase]()
RECORD = pytest.StashKey[Record]()
# Duration of the body in the thread that ran it.
SECONDS = pytest.StashKey[float]()
# The cases of all attempts, the last one included.
CASES = pytest.StashKey[list[Case | ClosedCase]]()
# Present if an attempt was late; describes the late attempts if a later one conformed.
LATE = pytest.StashKey[str]()
