"""Tests of the worker process, which runs short tests. Its death must not change a verdict."""

from __future__ import annotations

import os
import select
import selectors
import signal
import threading
from collections.abc import Iterator
from typing import Any, cast

import pytest

from boxspec.errors import HarnessError
from boxspec.judge.verdict import Late
from boxspec.schedule.worker import ClosedCase, Worker, WorkerFailure
from boxspec.subject.hangs import MANY, Hangs
from boxspec.subject.leftovers import Leftovers
from boxspec.subject.session import Session

LEFT = {"seconds": 0.5, "shim_seconds": 0.25, "questions": 3, "timing": [{"what": "its end"}]}


class FakeSession:
    """The parts of a session that the worker uses, for both processes."""

    def __init__(self, handed: dict[str, Any]) -> None:
        self.handed = handed
        self.hangs, self.leftovers = Hangs(), Leftovers()
        self.interrupted = threading.Event()

    def handed_on(self) -> dict[str, Any]:
        return self.handed

    def interrupt(self) -> None:
        self.interrupted.set()

    def close(self) -> None:
        self.leftovers.join(1, ["a daemon"])


def _run_test(session: Session, name: str) -> dict[str, Any]:
    """A fake test body: its name says what happens."""
    fake = cast(FakeSession, session)
    if name == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "breaks":
        raise ValueError("the case is lost")
    if name == "waits":
        os.write(fake.handed["ready"], b"!")
        fake.interrupted.wait(60)
    if name == "hangs":
        fake.hangs.note("A-TOPIC")
    if name == "late":
        said = {"what": "its end", "expected": "soon", "got": "late", "evidence": {}}
        return {"left": LEFT, "late": {**said, "hang": True, "symptom": ""}}
    if name == "broken":
        return {"left": LEFT, "failure": {"verdict": "fails", "reason": "it is broken"}}
    shim = f"{fake.handed['shim']} in {os.getpid() != fake.handed['pid']}"
    return {"left": {**LEFT, "timing": [{"shim": shim}]}}


@pytest.fixture
def session() -> FakeSession:
    return FakeSession({"shim": "honest", "pid": os.getpid()})


@pytest.fixture
def worker(session: FakeSession) -> Iterator[Worker]:
    made = Worker.start(lambda handed: cast(Session, FakeSession(handed)), _run_test)
    made.open(cast(Session, session))
    yield made
    made.interrupt()
    made.close()


def run(worker: Worker, name: str) -> tuple[ClosedCase, float | Exception]:
    told = worker.run(name, "A-TOPIC")
    assert told is not None
    return told


def test_a_body_runs_in_a_process_of_its_own(worker: Worker) -> None:
    left, came = run(worker, "conforms")
    assert left.measured() == [{"shim": "honest in True"}]
    assert (came, left.shim_seconds, left.questions) == (0.5, 0.25, 3)


def test_an_exception_of_a_body_is_raised_here(worker: Worker) -> None:
    _, late = run(worker, "late")
    assert isinstance(late, Late)
    assert late.hang
    assert str(late) == "its end: expected soon, got late"
    _, blamed = run(worker, "broken")
    assert isinstance(blamed, WorkerFailure)
    assert blamed.fields["verdict"] == "fails"


def test_hangs_are_counted_in_both(worker: Worker, session: FakeSession) -> None:
    for _ in range(MANY):
        worker.run("hangs", "A-TOPIC")
    assert session.hangs.many("A-TOPIC")
    assert not session.hangs.many("ANOTHER")


def test_its_death_is_the_kits_trouble(worker: Worker) -> None:
    with pytest.raises(HarnessError, match="worker process"):
        worker.run("dies", "A-TOPIC")
    assert not worker.serves


def test_the_reason_of_a_broken_worker_is_reported(worker: Worker) -> None:
    with pytest.raises(HarnessError, match="ValueError: the case is lost"):
        worker.run("breaks", "A-TOPIC")
    assert not worker.serves


def test_one_case_runs_at_a_time_and_an_interrupt_ends_it(session: FakeSession) -> None:
    ready, session.handed["ready"] = os.pipe()
    made = Worker.start(lambda handed: cast(Session, FakeSession(handed)), _run_test)
    made.open(cast(Session, session))
    ended = threading.Event()

    def ask() -> None:
        made.run("waits", "A-TOPIC")
        ended.set()

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    assert os.read(ready, 1) == b"!"
    assert made.run("conforms", "A-TOPIC") is None
    made.interrupt()
    assert ended.wait(30)
    asking.join()
    made.close()
    for fd in (ready, session.handed["ready"]):
        os.close(fd)
    assert "a daemon" in session.leftovers.summary


def test_one_without_a_session_ends(session: FakeSession) -> None:
    made = Worker.start(lambda handed: cast(Session, FakeSession(handed)), _run_test)
    made.interrupt()
    made.close()
    assert not session.leftovers.summary


def test_the_worker_ends_if_the_main_process_ends_before_it_reads_an_answer(
    session: FakeSession,
) -> None:
    """The worker's next read then fails, instead of giving the end of file."""
    made = Worker.start(lambda handed: cast(Session, FakeSession(handed)), _run_test)
    made.open(cast(Session, session))
    made._send_message({"test": "conforms", "topic": "A-TOPIC", "hangs": 0})
    # Wait until the answer is there, without reading it.
    select.select([made._end], [], [])
    made._lines.close()
    made._end.close()
    with selectors.DefaultSelector() as ended:
        pidfd = os.pidfd_open(made._pid)
        ended.register(pidfd, selectors.EVENT_READ)
        in_time = bool(ended.select(60))
        os.close(pidfd)
    os.kill(made._pid, signal.SIGKILL)
    os.waitpid(made._pid, 0)
    assert in_time
