"""Run the tests of a session, and last the repeats of late tests.

Short tests that no other thread has begun run in this thread.
"""

from __future__ import annotations

import pytest

from boxspec.schedule.protocol import expect_no_stop, run_one
from boxspec.schedule.recording import STOP_S, Recorder
from boxspec.schedule.stash import RECORD
from boxspec.schedule.state import State


def run_tests(session: pytest.Session, state: State, recorder: Recorder) -> None:
    elsewhere = []
    for item in session.items:
        recorder.record_ended()
        if state.future_of(item.nodeid) is None:
            run_one(session, item)
        else:
            elsewhere.append(item)
    while not all(RECORD in item.stash or item.nodeid in recorder.late for item in elsewhere):
        recorder.record_ended(STOP_S)
        expect_no_stop(session)
    for item in elsewhere:
        if item.nodeid in recorder.late:
            recorder.repeat_late(session, item)
