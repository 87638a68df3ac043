"""A running shim process: send signals to it, wait for its end, and collect its answer."""

from __future__ import annotations

import contextlib
import io
import os
import signal as signals
import time
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from boxspec.errors import ASKED, ShimBroke
from boxspec.judge.expect import shown
from boxspec.judge.verdict import Late
from boxspec.subject import patience
from boxspec.subject.attempt import FIRST
from boxspec.subject.client.exchange import Exchange
from boxspec.subject.client.streams import Streams
from boxspec.subject.death import died
from boxspec.subject.launching import PRELOADED
from boxspec.subject.leftovers import Leftovers, starts_nobody
from boxspec.subject.observe import procs
from boxspec.subject.observe.events import LOOK_S, Events
from boxspec.subject.observe.lines import Deadline, poll
from boxspec.subject.observe.procs import Proc
from boxspec.subject.observe.stamps import ENDING_MS, Stamp, Waited
from boxspec.subject.observe.warden import STOPPED, Exit, Warden
from boxspec.subject.observed import Facts, Observed
from boxspec.subject.patience import Patience
from boxspec.subject.shim_view import ShimView
from boxspec.subject.waiting import Setting

Outcome = TypeVar("Outcome", bound=Observed)


def signal_number(name: str | int) -> int:
    """Return the number of a signal, given as `TERM`, `SIGTERM` or a number."""
    if isinstance(name, int):
        return name
    return int(signals.Signals["SIG" + name.removeprefix("SIG")])


def _send(pid: int, name: str | int) -> None:
    if pid > 1:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal_number(name))


class Owner(patience.Stage, Protocol):
    """The part of a case that its shim processes need."""

    @property
    def capabilities(self) -> frozenset[str]: ...

    @property
    def max_line(self) -> int: ...

    @property
    def leftovers(self) -> Leftovers: ...

    def events(self) -> Events: ...

    def read_events(self) -> None: ...


class ShimProcess(ShimView, Generic[Outcome]):
    """A running shim process. The end of the with-block ends the process and all its
    descendants."""

    def __init__(
        self,
        case: Owner,
        exchange: Exchange,
        warden: Warden,
        streams: Streams,
        *,
        make: Callable[..., Outcome],
        setting: Setting,
        child: bool,
        deadline_ms: float | None,
        within_s: float,
        expect_result: bool,
    ) -> None:
        super().__init__(warden, exchange.hold)
        self.exchange = exchange
        self._case = case
        self._streams = streams
        self._make: Callable[..., Outcome] = make
        self.setting = setting
        # Whether the request starts a child, and the time at which the child was first seen.
        self._child = child
        self.child_since: float | None = None
        self.deadline_ms = deadline_ms
        self._looked = 0.0
        self._limit = Patience(case, within_s, self)
        self._expect_result = expect_result
        self._snapshot: list[Proc] | None = None
        self._lasting: list[Proc] = []
        self._outcome: Outcome | None = None
        self._sent: set[int] = set()

    def __enter__(self) -> ShimProcess[Outcome]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def has_preload(self, name: str) -> bool:
        """True if the shim has loaded the preloaded library NAME, even if the shim has ended."""
        lines = (self.exchange.folder / PRELOADED).read_text().splitlines()
        return f"{self.shim_pid} {name}" in lines

    @property
    def events(self) -> Events:
        """Return the events of the case (`case.events()`)."""
        return self._case.events()

    @property
    def stdin(self) -> io.FileIO:
        return self._streams.ours("stdin")

    @property
    def stdout(self) -> io.FileIO:
        return self._streams.ours("stdout")

    @property
    def stderr(self) -> io.FileIO:
        return self._streams.ours("stderr")

    def now_ns(self) -> int:
        """Return the time on the clock of all stamps (CLOCK_MONOTONIC)."""
        return time.monotonic_ns()

    def request_read_ns(self) -> int:
        """Return a time at or before which the shim had not read its request.

        The time is measured if `old_request` was set; otherwise it is the start of the shim.
        """
        return max(self.t_started_ns, self.exchange.read_ns())

    @property
    def childless(self) -> bool:
        """True if the request starts a child that has not been seen yet."""
        return self._child and self.child_since is None

    def started_child(self, at: float) -> None:
        """Record that the child existed at this time (monotonic, in seconds)."""
        if self.child_since is None:
            self.child_since = min(max(at, self.t_started_ns / 1e9), time.monotonic())

    def look_for_child(self) -> None:
        """Look for a child, which has its own process group.

        If the last look was less than half of LOOK_S ago, do nothing.
        """
        now = time.monotonic()
        if not self.childless or now - self._looked < LOOK_S / 2 or not self.running:
            return
        self._looked = now
        self._case.read_events()
        if self.childless and any(proc.pgid != self.shim_pid for proc in procs.tree(self.shim_pid)):
            self.child_since = now

    def signal(self, name: str | int, pid: int | None = None) -> Stamp:
        """Send a signal to the shim only, or to the process `pid`. Return when it was sent."""
        self.warden.pump()
        targets = {self.shim_pid: procs.waited(self.shim_pid)}
        before = time.monotonic_ns()
        if pid is not None:
            _send(pid, name)
        elif self.warden.shim_exit is None:
            self._sent.add(signal_number(name))
            _send(self.shim_pid, name)
        after = time.monotonic_ns()
        return Stamp(after, after - before, targets=targets)

    def signal_group(self, name: str | int) -> None:
        """Send a signal to the process group of the shim, as a terminal would."""
        self.warden.pump()
        # With the process number 1, killpg would become kill(-1), which signals all processes.
        if self.warden.shim_exit is None and self.shim_pid > 1:
            self._sent.add(signal_number(name))
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.shim_pid, signal_number(name))

    def wait_response(self, timeout_s: float | None = None) -> None:
        """Wait until the response exists and, with `hold`, until the shim waits at the fifo.

        Raise Failure at the time limit.
        """
        limit = self._limit if timeout_s is None else Patience(self._case, timeout_s, self)
        notify = self.exchange.notify_fd
        if notify is None:
            raise TypeError("wait_response needs hold=True")
        while not self.exchange.held and self.warden.shim_exit is None and not limit.over():
            if self.warden.gone:
                break
            ready = poll([notify, self.warden.report_fd], limit.left())
            if self.warden.report_fd in ready:
                self.warden.pump()
        if not self.exchange.in_place and self.warden.shim_exit is None:
            self._hung(limit)
        if self._snapshot is None:
            self._snapshot = self._look()

    def release(self) -> None:
        """Let a shim that waits at the fifo `hold` continue."""
        self.exchange.release()

    def wait_death(self, timeout_s: float) -> None:
        """Wait for the end of a shim that waits at the fifo, after a signal.

        The signal need not end it.
        """
        self.warden.wait_exit(Deadline(timeout_s))

    def _look(self) -> list[Proc]:
        ours = {self.shim_pid}
        if self.warden.report("bystander"):
            ours.add(self.bystander_pid or 0)
        found = self._without_helpers([proc for proc in self.warden.tree() if proc.pid not in ours])
        self._lasting = [proc for proc in found if proc.alive and not procs.is_dying(proc)]
        return found

    def _hung(self, limit: Patience) -> None:
        self._expect_warden_intact()
        tree = [proc.describe() for proc in self.warden.tree()]
        why = limit.gave_up(
            "the shim returns",
            "a response",
            "did not return",
            {"processes": tree, **self._stderr_evidence()},
            symptom="does not return",
        )
        self.warden.sweep()
        raise why

    def _expect_warden_intact(self) -> None:
        if self.warden.ended_for:
            raise ShimBroke(
                f"the shim was ended: {self.warden.ended_for}",
                {ASKED: shown(self.exchange.message)},
            )
        if self.warden.meddled == STOPPED and self._case.attempt == FIRST:
            # Any process of the host may have sent the signal. A shim sends it in each attempt.
            what = "the shim does not disturb the kit's warden"
            raise Late(what, "the warden runs", STOPPED, unexplained=True)
        if self.warden.meddled:
            raise ShimBroke(
                f"the shim or its program disturbed the kit's warden: {self.warden.meddled}",
                {ASKED: shown(self.exchange.message)},
            )

    def _stderr_evidence(self) -> dict[str, str]:
        data = self._streams.captured("stderr")
        return {"shim stderr": data[-400:].decode("utf-8", "replace")} if data else {}

    def read(self, name: str, most: int) -> bytes:
        """Read at most `most` bytes of a stream; empty at its end.

        Raise Failure at the time limit.
        """
        fd = self._streams.ours(name).fileno()
        while not poll([fd], self._limit.left()):
            if self._limit.over():
                self._hung(self._limit)
        return os.read(fd, most)

    def wait_exit(self, timeout_s: float | None = None) -> Exit:
        """Release the shim and wait for its end. Raise Failure at the time limit."""
        if self.exchange.notify_fd is not None:
            self.wait_response()
            self.release()
        limit = self._limit if timeout_s is None else Patience(self._case, timeout_s, self)
        ended = self.warden.wait_exit(limit)
        if ended is None:
            self._hung(limit)
        assert ended is not None
        if self._snapshot is None:
            self._snapshot = self._look()
        return ended

    def finish(self) -> Outcome:
        """Wait for the end and return the answer. Later calls return the same answer."""
        if self._outcome is not None:
            return self._outcome
        ended = self.wait_exit()
        self._expect_warden_intact()
        found = self._snapshot or []
        facts = Facts(
            shim_exit=(ended.how, ended.number),
            start=Stamp(self.t_started_ns, targets={self.shim_pid: Waited(0, 1)}),
            end=self._end(ended),
            survivors=[proc for proc in found if proc.alive],
            lasting=self._lasting,
            zombies=procs.uncollected(found, self.warden.pid),
            shim_stderr=self._streams.captured("stderr"),
            shim_stdout=self._streams.captured("stdout"),
        )
        answer = self.exchange.answer(self._case.capabilities, limit=self._case.max_line)
        if answer is None and self._expect_result:
            evidence = {**self._stderr_evidence(), ASKED: shown(self.exchange.message)}
            raise died(ended, evidence, self._sent)
        by_itself = ended.how == "exited" and not self._sent
        if by_itself and starts_nobody(self.exchange.message):
            self._case.leftovers.add(self._lasting)
        self._outcome = self._make(answer, facts).of(self.exchange.message)
        return self._outcome

    def _end(self, ended: Exit) -> Stamp:
        spent = self.spent
        if spent is None:
            return Stamp(ended.t_ns, spare_ms=ENDING_MS)
        targets = {self.shim_pid: spent.waited}
        return Stamp(ended.t_ns, spent.late_ns, targets=targets, spare_ms=ENDING_MS)

    @property
    def outcome(self) -> Outcome | None:
        """Return the answer if `finish` has been called, else None."""
        return self._outcome

    def close(self) -> None:
        """End all processes and close all descriptors; a second call has no effect."""
        self.warden.sweep()
        self.exchange.close()
        self._streams.close()
