"""Run one target: watch the engine until its time is over or the user stops it."""

from __future__ import annotations

import contextlib
import resource
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from boxspec.errors import HarnessError
from boxspec.fuzz import builds, status
from boxspec.fuzz.afl import Afl
from boxspec.fuzz.children import adopt_orphans
from boxspec.fuzz.engine import Crash, Engine, Plan, Progress
from boxspec.fuzz.finding_block import finding_block
from boxspec.fuzz.findings import Finding, Findings
from boxspec.fuzz.libfuzzer import LibFuzzer
from boxspec.fuzz.outcome import Outcome
from boxspec.fuzz.work_folder import no_room
from boxspec.terminal import Terminal

ENGINES: dict[str, Callable[[Plan], Engine]] = {"libfuzzer": LibFuzzer, "afl": Afl}
LOOK_S = 0.2
# The longest time for processing findings between two status lines. AFL++ may save a thousand
# inputs of one fault, which must not block the run or make it much longer.
TAKE_S = 0.5
TAKE_AT_THE_END_S = 20.0


@contextlib.contextmanager
def stoppable() -> Iterator[list[int]]:
    """Collect SIGINT and SIGTERM in a list, so that the run can end in order.

    A shell may have started this process in the background with SIGINT ignored. The signal is
    collected then, too.
    """
    came: list[int] = []
    before = [
        (number, signal.signal(number, lambda number, _: came.append(number)))
        for number in (signal.SIGINT, signal.SIGTERM)
    ]
    try:
        yield came
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _cpu_s() -> float:
    """Return the CPU time of all descendants that have ended, orphans included."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Run:
    """Runs an engine on a target.

    It prints a line for each new finding, and all details after the engine has stopped.
    """

    def __init__(self, plan: Plan, engine: str, seconds: float, console: Terminal) -> None:
        self._plan, self._name, self._seconds, self._console = plan, engine, seconds, console
        judge = builds.binary(builds.JUDGE, plan.target)
        self.findings = Findings(plan.target, judge, plan.folder, plan.env, plan.ignored)
        self._engine: Engine = ENGINES[engine](plan)
        self._spent = 0.0
        self._progress = Progress()
        self._broke: str | None = None
        self._waiting: list[Crash] = []

    def run(self, stopped: Sequence[int], *, smaller: bool) -> Outcome:
        """Run until the time is over, or until `stopped` is not empty."""
        adopt_orphans()
        before, cpu_before_s = self._engine.inputs(), _cpu_s()
        started = time.monotonic()
        try:
            self._engine.start()
            self._watch(started, stopped)
        finally:
            self._engine.stop()
        cpu_s, after = _cpu_s() - cpu_before_s, self._engine.inputs()
        self._progress = self._engine.progress()
        self._add_findings(TAKE_AT_THE_END_S)
        found = list(self.findings.by_key.values())
        for finding in found if smaller else ():
            self._console.status(f"minimising {finding.path.name}")
            self.findings.minimise(finding, lambda: stopped)
        self._print_findings(found, cpu_s)
        if self._plan.target.shim and not (found or stopped or self._broke or self._progress.runs):
            raise HarnessError(
                f"no input was completed in {self._spent:.1f} s: the shim did not answer, or the"
                " engine is still reading its first inputs; use a longer --time"
            )
        if self._broke is not None and not found:
            raise HarnessError(f"{self._name} ended early: {self._broke}")
        return Outcome(found, self._progress, self._spent, cpu_s, before, after, self._broke)

    def _watch(self, started: float, stopped: Sequence[int]) -> None:
        while not stopped and self._spent < self._seconds:
            time.sleep(LOOK_S)
            self._spent = time.monotonic() - started
            self._progress = self._engine.progress()
            self._add_findings(TAKE_S)
            why = self._engine.why_ended() or no_room(self._plan.folder)
            if why is not None:
                self._broke = str(why)
                return
            self._console.status(self._status_line(), first=2)

    def _add_findings(self, within_s: float) -> None:
        until = time.monotonic() + within_s
        self._waiting += self._engine.crashes()
        while self._waiting and time.monotonic() < until:
            if self.findings.add(self._waiting.pop(0)):
                report = list(self.findings.by_key.values())[-1].report
                self._console.write(f"found     {report.key}: {report.message}")

    def _status_line(self) -> str:
        name, found = self._plan.target.name, len(self.findings.by_key)
        return status.live(name, self._name, self._spent, self._seconds, self._progress, found)

    def _print_findings(self, found: list[Finding], cpu_s: float) -> None:
        for finding in found:
            self._console.write()
            self._console.block(finding_block(finding, self.findings.command(finding)))
        if found:
            self._console.write()
        if self._broke is not None and found:
            self._console.write(f"ended early: {self._broke}")
        if self._waiting:
            self._console.write(f"{len(self._waiting)} saved inputs were not replayed")
        name = self._plan.target.name
        self._console.write(
            status.closing(name, self._name, self._spent, self._progress, len(found), cpu_s)
        )


def fresh(folder: Path) -> None:
    """Delete the corpus and the findings of earlier runs."""
    shutil.rmtree(folder, ignore_errors=True)
