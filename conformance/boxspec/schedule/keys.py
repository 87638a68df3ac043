"""What the parts of the plugin keep at a test."""

from __future__ import annotations

import pytest

from boxspec.judge.record import Record
from boxspec.target.case import Box

BOX = pytest.StashKey[Box]()
RECORD = pytest.StashKey[Record]()
# How long the body took, in the thread that ran it.
SECONDS = pytest.StashKey[float]()
# What was late at the first look, and was not at the second.
LATE_ONCE = pytest.StashKey[str]()
