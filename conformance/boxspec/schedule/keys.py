"""What the parts of the plugin keep at a test."""

from __future__ import annotations

import pytest

from boxspec.judge.record import Record
from boxspec.schedule.worker import Left
from boxspec.subject.case import Case

# Of a case of this process, or what one of the other process left.
CASE = pytest.StashKey[Case | Left]()
RECORD = pytest.StashKey[Record]()
# How long the body took, in the thread that ran it.
SECONDS = pytest.StashKey[float]()
# The cases of all looks at it, the last one included.
LOOKS = pytest.StashKey[list[Case | Left]]()
# It was late at some look: what was seen, where it conformed at another one.
LATE = pytest.StashKey[str]()
