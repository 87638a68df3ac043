"""Define `Case`, with which a test sends requests and observes their effects."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from boxspec.judge.timing import Timing
from boxspec.judge.verdict import HostLacks
from boxspec.subject.attempt import FIRST, Attempt
from boxspec.subject.client.exchange import Exchange
from boxspec.subject.client.serve import Serve, answer_s
from boxspec.subject.client.streams import Streams, Wish
from boxspec.subject.gates import open_gate
from boxspec.subject.hangs import Hangs
from boxspec.subject.idle import Idle
from boxspec.subject.launching import ShimEnv, environment, start, uid_for_shim
from boxspec.subject.leftovers import Leftovers
from boxspec.subject.observe import procs
from boxspec.subject.observe.events import Events
from boxspec.subject.observe.machine import Machine
from boxspec.subject.observe.stamps import SPARE_MS
from boxspec.subject.observed import Answer, Observed
from boxspec.subject.patience import Patience
from boxspec.subject.session import Session
from boxspec.subject.shim_process import ShimProcess
from boxspec.subject.transcript import shown_request, write_transcript
from boxspec.subject.waiting import Setting

Message = dict[str, Any]
# Flags of the warden (fixtures/programs/warden).
State = Sequence[str | int | os.PathLike[str]]
Outcome = TypeVar("Outcome", bound=Observed)

# Time limit of a shim process.
WITHIN_S = 30.0


class Options(TypedDict, total=False):
    """Options for starting a shim process (see `Case.launch`)."""

    hold: bool
    expect_result: bool
    within_s: float
    state: State
    shim_env: ShimEnv | None


# Time that the kernel may need to end a sandbox. It sleeps during this time, so the scheduling
# delay does not include it. boxspec-bench-ends (reference/bench/backend) measures it: on two
# processors with a load of 28, the longest of 400 ends took 186 ms with a network namespace, 27 ms
# with a pid namespace and 21 ms without namespaces; half of all took at most 2 ms. A run of the
# suite had 254 ms.
TAKEN_DOWN_MS = 300.0


class Case:
    """One case: it has a folder with fifos, and starts shim processes.

    `close` ends the processes, and deletes or keeps the folder. Each contract has a subclass with
    its client: an `ExecCase` has an `exec`. A test names the subclass in its signature, so that
    mypy checks each of its requests.
    """

    # True if the shim gets the variables of the kit. A sandbox must not get them, because it could
    # recognise a test by them.
    has_variables_of_the_kit = True

    def __init__(self, session: Session, name: str, *, attempt: Attempt = FIRST) -> None:
        self.session = session
        self.name = name
        self.folder = session.case_folder()
        # The topic of the test, the requirements that it decides, and the seconds that it needs
        # (`@requires(overlap=…)`).
        self.topic = ""
        self.deciding: tuple[str, ...] = ()
        self.needs_s = 0.0
        # The measurements of time limits.
        self.timings: list[Timing] = []
        self.attempt = attempt
        self.marker = session.marker()
        self.shim_processes: list[ShimProcess[Any]] = []
        self._events: list[Events] = []
        self._tmp: Path | None = None
        self._exchanges = 0
        self._lock = threading.Lock()
        # The last request through serve. It is shown if the test fails.
        self.asked: Message | None = None
        # Duration of the test body, in the thread that ran it.
        self.seconds: float | None = None
        # Number of vectors that the test checks.
        self.questions = 0
        self._answering_s = 0.0

    # The shim -------------------------------------------------------------------------------

    @property
    def hello(self) -> dict[str, Any]:
        return self.session.hello

    @property
    def capabilities(self) -> frozenset[str]:
        return self.session.capabilities

    @property
    def max_line(self) -> int:
        return self.session.max_line

    @property
    def startup_ms(self) -> float:
        return self.session.startup_ms

    @property
    def hangs(self) -> Hangs:
        return self.session.hangs

    @property
    def leftovers(self) -> Leftovers:
        return self.session.leftovers

    @property
    def stress(self) -> bool:
        """True if the user wants the long form of tests (`--stress`)."""
        return self.session.stress

    @property
    def grace_ms(self) -> int:
        return self.session.grace_ms

    @property
    def tick_ms(self) -> int:
        return self.session.tick_ms

    @property
    def kept(self) -> Path:
        """Return where the folder of the case is after `close(keep=True)`."""
        return self.session.kept_place(self.folder)

    # Places and times -----------------------------------------------------------------------

    @property
    def tmp(self) -> Path:
        """Return the folder for files of the test; it is made at the first use."""
        if self._tmp is None:
            self._tmp = self.folder / "tmp"
            self._tmp.mkdir()
        return self._tmp

    def open_to_others(self) -> None:
        """Give other users access to the folder of the case."""
        self.folder.chmod(0o777)
        place = "TMPDIR" if self.session.backend is None else "BOXSPEC_CASE_ROOT"
        for parent in self.folder.parents:
            if not parent.stat().st_mode & stat.S_IXOTH:
                reason = f"{parent} is closed to other users: name another {place}"
                raise HostLacks("other users", reason)

    def fifo(self, name: str) -> Path:
        path = self.tmp / name
        os.mkfifo(path)
        path.chmod(0o666)
        return path

    def open_gate(self, path: str | os.PathLike[str], within_s: float = 10) -> None:
        """Open and close a fifo, so that the program that reads it now or later gets its end of
        file."""
        open_gate(path, self.patience(within_s), self._any_process_alive)

    def events(self, name: str | None = None) -> Events:
        """Return the events of the fifo with this name, by default of the case's own fifo."""
        wanted = self.folder / (name or "events")
        for events in self._events:
            if events.path == str(wanted):
                return events
        # Inside a backend, programs may have their own pid namespace.
        outside = self._outside if self.session.backend is not None else None
        made = Events(wanted, self._any_process_alive, self.patience, self._child_seen, outside)
        self._events.append(made)
        return made

    def _outside(self, pid: int) -> int:
        """Return the process of this case that has this number in its own pid namespace. If that
        process has ended, return a number that no process can have."""
        tree = [proc.pid for shim in self.shim_processes for proc in shim.warden.tree()]
        found = [each for each in tree if procs.known_inside_as(each) == pid]
        if found:
            return found[0]
        return pid if pid in tree else procs.NOBODY + pid

    def _any_process_alive(self) -> bool:
        return any(shim.any_process_alive() for shim in self.shim_processes)

    def read_events(self) -> None:
        """Read the events that the programs of the case have logged."""
        for events in self._events:
            events.all()

    def _child_seen(self, at: float) -> None:
        for shim in self.shim_processes:
            if shim.running:
                shim.started_child(at)

    def patience(self, seconds: float) -> Patience:
        """Return a time limit for an event of the last run. The limit is counted from the start of
        the run's child."""
        return Patience(self, seconds)

    def note(self, timing: Timing) -> Timing:
        """Add a measurement to the record of the test, with facts about the attempt."""
        made = replace(
            timing,
            attempt=self.attempt.number,
            alone=self.attempt.alone,
            realtime=self.attempt.realtime,
        )
        self.timings.append(made)
        return made

    def judge_time(
        self,
        what: str,
        took_ms: float,
        waited_ms: float,
        limit_ms: float,
        spare_ms: float = SPARE_MS,
        seen: bool = True,
    ) -> None:
        """Check a measured time against its limit (see judge/timing.py)."""
        if self.session.backend is not None:
            spare_ms += TAKEN_DOWN_MS
        self.note(Timing(what, limit_ms, spare_ms, took_ms, waited_ms, seen)).check()

    # Messages -------------------------------------------------------------------------------

    def ask(self, op: str, within_s: float | None = None, **fields: Any) -> Answer:
        """Send a request through serve, without the fields that are None."""
        message = {key: value for key, value in fields.items() if value is not None}
        return self.put({"op": op, **message}, within_s)

    def put(self, message: Message, within_s: float | None = None) -> Answer:
        """Send a request through the serve session, which several cases use. If the shim crashes,
        hangs or writes garbage, only this request fails."""
        self.asked = message
        if within_s is None:
            within_s = answer_s(message)
        serve, begun = self.session.serve(), time.monotonic()
        try:
            return Answer(serve.ask(message, within_s)).of(message)
        finally:
            self._answering_s += time.monotonic() - begun

    def measured(self) -> list[dict[str, Any]]:
        """Return the measurements of time limits, for a record."""
        return [each.to_json() for each in self.timings]

    @property
    def shim_seconds(self) -> float:
        """Return the total duration of shim processes that have ended and of answers through
        serve."""
        runs = [(shim.t_started_ns, shim.t_ended_ns) for shim in self.shim_processes]
        return self._answering_s + sum(end - start for start, end in runs if end is not None) / 1e9

    def send(self, message: Message | bytes, **options: Any) -> Observed:
        """Send any message through `SHIM run`; bytes are written to REQUEST unchanged."""
        with self.launch(message, Observed, **options) as shim:
            return shim.finish()

    @contextlib.contextmanager
    def idle(self, *state: str) -> Iterator[Idle]:
        """Start the shim with these warden flags, but without a run. Tests compare the state of a
        run with the state of this idle shim."""
        with self._lock:
            self._exchanges += 1
            folder = self.folder / f"idle-{self._exchanges}"
        session = self.session
        state = (*session.state, *state)
        serve = Serve(session.argv, folder, session.env, max_line=self.max_line, state=state)
        session.add(serve.warden)
        try:
            yield Idle(serve)
        finally:
            serve.close()
            session.drop(serve.warden)

    def launch(
        self,
        message: Message | bytes,
        make: Callable[..., Outcome],
        *,
        child: bool = False,
        deadline_ms: float | None = None,
        hold: bool = False,
        old_request: bool = False,
        expect_result: bool = True,
        within_s: float = WITHIN_S,
        state: State = (),
        shim_env: ShimEnv | None = None,
        streams: Mapping[str, Wish] | None = None,
        words: Sequence[str] | None = None,
    ) -> ShimProcess[Outcome]:
        """Start `SHIM run` for a message, below a warden.

        words: used instead of `run REQUEST RESPONSE`, for the runner of a module.
        child: True if the request starts a program.
        deadline_ms: the deadline of that program.
        old_request: also record when the shim reads the request (`request_read_ns`).
        """
        # The lock is needed because a case may start shim processes in several threads.
        with self._lock:
            self._exchanges += 1
            number = self._exchanges
        folder = self.folder / f"run-{number}"
        if isinstance(message, dict):
            message = {"id": f"{self.marker}-{number}", **message}
        if "--uid" in state:
            self.open_to_others()
        flags = [*self.session.state, *(str(flag) for flag in state)]
        exchange = Exchange(folder, message, hold=hold, writer=uid_for_shim(flags))
        if "--uid" in state:
            # The shim runs as another user, and writes the response and its log.
            folder.chmod(0o777)
        if old_request:
            exchange.age()
        opened = Streams(folder, streams or {})
        flags += self.attempt.flags
        helpers = self.session.helpers_of(exchange.op)
        setting = Setting(Machine.now(), helpers, self.attempt.realtime)
        shown = self.has_variables_of_the_kit and self.session.backend is None
        env = environment(self.session.env, flags, folder, shim_env or {}, shown=shown)
        if words is None:
            words = ["run", str(exchange.request), str(exchange.response)]
        argv = [*self.session.argv, *words]
        try:
            warden = start(argv, flags, env, opened.fds, asked=[str(flag) for flag in state])
        except BaseException:
            exchange.close()
            opened.close()
            raise
        opened.started()
        shim: ShimProcess[Outcome] = ShimProcess(
            self,
            exchange,
            warden,
            opened,
            make=make,
            setting=setting,
            child=child,
            deadline_ms=deadline_ms,
            within_s=within_s,
            expect_result=expect_result,
        )
        self.shim_processes.append(shim)
        self.session.add(shim.warden)
        self.session.floods.watch(shim.warden, opened.files)
        return shim

    # The end --------------------------------------------------------------------------------

    def request_text(self, why: BaseException | None = None) -> str | None:
        """Return the request to show: the request of the failure, or else the last one."""
        about = getattr(why, "asked", None)
        if about is None and not self.shim_processes and self.asked is None:
            return None
        return shown_request(about or self.asked or self.shim_processes[-1].exchange.message)

    def outside(self, why: BaseException | None = None) -> dict[str, Any]:
        """Return observations of the shim process that failed, or else of the last that ended."""
        about = getattr(why, "asked", None)
        ended = [shim for shim in self.shim_processes if shim.outcome is not None]
        ended = [shim for shim in ended if shim.exchange.message is about] or ended
        seen = ended[-1].outcome if ended else None
        return seen.outside() if seen is not None else {}

    def sweep(self) -> None:
        """End all processes and close all descriptors. The files stay."""
        for shim in self.shim_processes:
            shim.close()
            self.session.drop(shim.warden)
        for events in self._events:
            with contextlib.suppress(OSError):
                events.close()

    def close(self, *, keep: bool) -> None:
        self.sweep()
        if keep:
            # On a full disk the folder is kept without the transcript.
            with contextlib.suppress(OSError):
                write_transcript(self.folder, self.name, self.asked, self._events)
            self.session.keep(self.folder)
        else:
            self.session.delete(self.folder)
