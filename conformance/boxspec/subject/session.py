"""A session with one shim: the command of the implementation under test, its folders and its
processes."""

from __future__ import annotations

import contextlib
import os
import queue
import secrets
import signal
import threading
import uuid
from collections.abc import Mapping
from dataclasses import asdict
from functools import reduce
from pathlib import Path
from typing import Any

from boxspec import folders, umask
from boxspec.errors import UsageError
from boxspec.judge.verdict import NotMeasured
from boxspec.places import MEMORY, case_root, for_others, kept_root, scratch
from boxspec.programs import programs
from boxspec.subject import open_guard
from boxspec.subject.client.serve import Serve
from boxspec.subject.client.strict import MAX_RESPONSE
from boxspec.subject.delays import Delays
from boxspec.subject.floods import Floods
from boxspec.subject.hangs import Hangs
from boxspec.subject.isolation import Isolation
from boxspec.subject.leftovers import Leftovers
from boxspec.subject.observe import orphans
from boxspec.subject.observe.helper_processes import HelperProcesses
from boxspec.subject.observe.visible import need_proc
from boxspec.subject.observe.warden import Warden, spawn
from boxspec.subject.outcomes import Outcomes
from boxspec.subject.quiet import need_quiet_programs, need_true_clock
from boxspec.subject.rlimits import raise_limits

GRACE_MS, TICK_MS = 5000, 100
# Upper limit for a line, even if hello declares more, because a line is several times in memory.
MOST_BELIEVED = 4 * MAX_RESPONSE


class Session:
    """A session with a shim.

    After `close` no process, no descriptor and no folder of a conforming case is left.
    """

    def __init__(
        self,
        argv: tuple[str, ...],
        *,
        seed: int = 0,
        busy: int = 0,
        backend: str | None = None,
        stress: bool = False,
        isolate: Isolation | None = None,
    ) -> None:
        self.argv = argv
        self.seed = seed
        # True if tests take their long form.
        self.stress = stress
        # The name that `--backend` gave.
        self.backend = backend
        # judge/results.py explains both.
        self.chosen: dict[str, tuple[str, list[str]]] = {}
        self.claims: dict[str, dict[str, str]] = {}
        self.hello: dict[str, Any] = {}
        self.capabilities: frozenset[str] = frozenset()
        # Contracts that cannot be scored on this host, each with its reason.
        self.unavailable: dict[str, str] = {}
        self.env = dict(os.environ) if isolate is None else for_others(os.environ)
        self.isolation = isolate
        need_proc()
        need_true_clock(os.environ)
        need_quiet_programs(os.environ)
        umask.set_own()
        raise_limits()
        _keep_descriptors_private()
        orphans.adopt()
        # Programs in a sandbox can reach the folder of a case only if it lies below a writable
        # place.
        place = scratch() if backend is None else case_root()
        self.root = folders.make(place)
        # Some cases start the shim as another user, which must be able to enter the folder.
        self.root.chmod(0o755)
        open_guard.guard(self.root)
        try:
            if self.isolation is not None:
                self.isolation.admit(self.root)
        except BaseException:
            open_guard.release(self.root)
            folders.delete(self.root)
            raise
        self._lock = threading.Lock()
        self._serves: dict[int, Serve] = {}
        self._serve_folders: list[Path] = []
        self._wardens: set[Warden] = set()
        self._interrupted = False
        self._busy: list[tuple[int, int]] = []
        self.outcomes = Outcomes()
        # How long this shim takes to start, run `true` and end. The smoke test measures it.
        self.startup_ms = 0.0
        # The processor time of a start that answers `hello`; 0 if unknown.
        self.start_cpu_s = 0.0
        # The kinds of requests that did not return in the trust checks, in words of a contract.
        self.stuck: set[str] = set()
        # The helper processes of a run, for each contract. The trust checks find them.
        self.helpers: dict[str, HelperProcesses] = {}
        self.hangs = Hangs()
        self.delays = Delays()
        self.leftovers = Leftovers()
        self.floods = Floods()
        # The folder on the disk for kept folders of cases; made at the first use.
        self._kept_root: Path | None = None
        # Folders of cases that could not be removed at once. `close` tries again.
        self._held: list[Path] = []
        self._waste: queue.SimpleQueue[Path | None] = queue.SimpleQueue()
        self._cleaner = threading.Thread(target=self._clean, name="cleaner", daemon=True)
        self._cleaner.start()
        self.closed = False
        try:
            for _ in range(busy):
                self._busy.append(_start_busy())
        except BaseException:
            self._waste.put(None)
            self.floods.close()
            self.delays.close()
            folders.delete(self.root)
            raise

    @property
    def state(self) -> tuple[str, ...]:
        """Return the warden flags with which each process of the shim is started."""
        return tuple(self.isolation.state) if self.isolation else ()

    @property
    def max_line(self) -> int:
        declared = int(self.hello.get("limits", {}).get("max_line_bytes", MAX_RESPONSE))
        return min(declared, MOST_BELIEVED)

    @property
    def grace_ms(self) -> int:
        return self._constant("grace_ms", GRACE_MS)

    @property
    def tick_ms(self) -> int:
        return self._constant("tick_ms", TICK_MS)

    def _constant(self, name: str, value: int) -> int:
        """Return the value of the contract. Raise NotMeasured if the shim declares another one.

        The tests scale their expectations with the value of the contract, so they do not fit
        another value.
        """
        # A shim without exec need not declare it; the value of the contract is used.
        default = None if "exec" in self.capabilities else value
        declared = self.hello.get("constants", {}).get(name, default)
        if declared != value:
            raise NotMeasured(f"the shim states {name} {declared}: the contract has {value}")
        return value

    def accept_hello(self, hello: dict[str, Any]) -> None:
        self.hello = hello
        self.capabilities = frozenset(hello["capabilities"])

    def handed_on(self) -> dict[str, Any]:
        """Return the results of the trust checks, for a session in another process."""
        return {
            "hello": self.hello,
            "startup_ms": self.startup_ms,
            "stuck": sorted(self.stuck),
            "chosen": self.chosen,
            "helpers": {name: asdict(found) for name, found in self.helpers.items()},
            "isolation": asdict(self.isolation) if self.isolation else None,
        }

    def take_over(self, handed: Mapping[str, Any]) -> None:
        self.accept_hello(handed["hello"])
        self.startup_ms = handed["startup_ms"]
        self.stuck = {*handed["stuck"]}
        self.chosen = handed["chosen"]
        self.helpers = {name: HelperProcesses(**found) for name, found in handed["helpers"].items()}

    def helpers_of(self, op: str) -> HelperProcesses:
        """Return the helper processes of an operation.

        If those of its contract are not known, return all that are known of any contract.
        """
        found = self.helpers.get(op.partition(".")[0])
        return found or reduce(HelperProcesses.joined, self.helpers.values(), HelperProcesses())

    def case_folder(self) -> Path:
        """Make a folder with a random name, so that the path of REQUEST does not show the shim
        which test runs."""
        while True:
            folder = self.root / secrets.token_hex(4)
            with contextlib.suppress(FileExistsError):
                folder.mkdir()
                return folder

    def delete(self, folder: Path) -> None:
        """Delete the folder in another thread, because this takes a third of the time of a short
        case."""
        self._waste.put(folder)

    def _clean(self) -> None:
        while (folder := self._waste.get()) is not None:
            if not folders.delete(folder):
                self._held.append(folder)

    def kept_place(self, folder: Path) -> Path:
        """Return where `keep` will keep the folder: on the disk, if the folder is in memory."""
        if self.root.parent != MEMORY:
            return folder
        with self._lock:
            if self._kept_root is None:
                self._kept_root = self._make_kept_root()
        return folder if self._kept_root == self.root else self._kept_root / folder.name

    def _make_kept_root(self) -> Path:
        """Make a folder on the disk; return the root if that is impossible."""
        try:
            place = kept_root()
            place.mkdir(parents=True, exist_ok=True)
            made = folders.make(place)
        except (OSError, UsageError):
            return self.root
        folders.keep(made)
        return made

    def keep(self, folder: Path) -> None:
        """Keep the folder of a case for the user, even if this process is killed."""
        place = self.kept_place(folder)
        if place == folder:
            folders.keep(self.root)
        elif folder.exists():
            folders.move(folder, place)

    def marker(self) -> str:
        return f"boxspec-{uuid.uuid4().hex[:16]}"

    def serve(self) -> Serve:
        """Return the serve session of this thread, so that other threads cannot break it.

        Cases share it. A broken session is replaced.
        """
        me = threading.get_ident()
        serve = self._serves.get(me)
        if serve is not None and serve.alive:
            return serve
        folder = self.case_folder()
        with self._lock:
            self._serve_folders.append(folder)
        place, most = folder / "serve", self.max_line
        serve = Serve(self.argv, place, self.env, max_line=most, state=self.state)
        serve.capabilities = self.capabilities
        self._serves[me] = serve
        return serve

    def add(self, warden: Warden) -> None:
        with self._lock:
            self._wardens.add(warden)
            late = self._interrupted
        if late:
            warden.command("sweep")

    def drop(self, warden: Warden) -> None:
        self.floods.forget(warden)
        with self._lock:
            self._wardens.discard(warden)

    def interrupt(self) -> None:
        """End all shims that run now or start later, so that their cases fail at once."""
        with self._lock:
            self._interrupted = True
            wardens = list(self._wardens)
        for warden in wardens:
            warden.command("sweep")

    def abandon(self) -> None:
        """Remove the folders, or at least mark them for the next run, without waiting for cases.

        Processes end with their wardens, and these end with this process.
        """
        if not folders.is_kept(self.root):
            folders.delete(self.root)

    def close(self) -> None:
        if self.closed:
            return
        self.closed = True
        for serve in self._serves.values():
            if serve.alive:
                serve.end()
                self.leftovers.add(serve.left)
                serve.close()
        for folder in self._serve_folders:
            self.delete(folder)
        self._waste.put(None)
        self._cleaner.join()
        self.floods.close()
        self.delays.close()
        for pid, stdin in self._busy:
            os.close(stdin)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        # Try again now, because the processes that used these folders have ended.
        for folder in self._held:
            if not folders.delete(folder):
                self.leftovers.folders.append(folders.stays(folder))
        open_guard.release(self.root)
        # The folders of failed cases are kept.
        folders.leave(self.root)


def _start_busy() -> tuple[int, int]:
    stdin_r, stdin_w = os.pipe2(os.O_CLOEXEC)
    try:
        return spawn([programs.busy], os.environ, {0: stdin_r, 1: 1, 2: 2}), stdin_w
    finally:
        os.close(stdin_r)


def _keep_descriptors_private() -> None:
    """Make inherited descriptors close-on-exec, because tests expect a shim to have only 0, 1 and
    2."""
    for entry in Path("/proc/self/fd").iterdir():
        if int(entry.name) > 2:
            with contextlib.suppress(OSError):
                os.set_inheritable(int(entry.name), False)
