"""Handle the findings of a run: recognise equal findings, replay, minimise and store them."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from boxspec.fuzz import crash_report, replay
from boxspec.fuzz.crash_report import Report
from boxspec.fuzz.engine import Crash
from boxspec.fuzz.targets import ONE_ALONE, Target
from boxspec.places import INSTALLED, ROOT

MINIMISE_S = 20.0  # time for minimising all findings of a run
# Matches the number by which the target shim_diff names a request of a batch.
REQUEST = re.compile(r"\brequest (\d+)\b")


@dataclass
class Finding:
    """One finding. `path` is the smallest input that shows it."""

    target: Target
    report: Report
    path: Path
    original_bytes: int
    times: int = 1
    reproduces: bool = True

    @property
    def data(self) -> bytes:
        return self.path.read_bytes()


class Findings:
    """The findings of a target.

    env: variables that are needed to reproduce a finding, for example the shim.
    ignored: keys of findings that are not reported. A key may end with marks.
    """

    def __init__(
        self,
        target: Target,
        judge: Path,
        folder: Path,
        env: Mapping[str, str],
        ignored: Sequence[str] = (),
    ) -> None:
        self._target, self._judge, self._env = target, judge, env
        self._ignored = ignored
        self._folder = folder / "findings"
        self.by_key: dict[str, Finding] = {}

    def add(self, crash: Crash) -> bool:
        """Add a crash; return False if its finding is known already or ignored.

        The output of the engine is examined before a replay, because that is faster.
        """
        engine_report = crash_report.read(crash.output)
        if engine_report is not None and self._is_known(engine_report):
            return False
        path, seen = self._replay(crash, engine_report)
        report = seen or engine_report
        if report is None and not crash.sure:
            # The replay does not show the finding again, for example a timeout on a busy machine.
            return False
        report = report or Report(
            "engine", "crashes the engine's build, but not the build that replays"
        )
        if self._is_known(report):
            return False
        original_bytes = crash.input.stat().st_size
        kept = self._save(report, path.read_bytes())
        made = Finding(self._target, report, kept, original_bytes, reproduces=seen is not None)
        self.by_key[report.key] = made
        return True

    def _is_known(self, report: Report) -> bool:
        """True if the finding is ignored, or if its key was seen before. A seen finding is
        counted."""
        if report.is_one_of(self._ignored):
            return True
        if report.key in self.by_key:
            self.by_key[report.key].times += 1
        return report.key in self.by_key

    def _replay(self, crash: Crash, engine_report: Report | None) -> tuple[Path, Report | None]:
        """Replay a crash; return the input and its report.

        If the input is a batch, return an input with only the request that caused the crash: other
        requests may have other findings.
        """
        seen = self._replay_single(crash.input, engine_report)
        if seen is not None:
            return self._trial, seen
        seen = replay.run_input(self._judge, crash.input, self._env, quick=True)
        if seen is None or seen.oracle is None:
            seen = replay.run_input(self._judge, crash.input, self._env)
        alone = self._replay_single(crash.input, seen)
        return (self._trial, alone) if alone is not None else (crash.input, seen)

    def _replay_single(self, path: Path, report: Report | None) -> Report | None:
        """Replay only the request that the report names.

        Return the new report if it shows the same finding, else None.
        """
        number = (
            REQUEST.search(report.message) if self._target.shim and report is not None else None
        )
        if report is None or number is None:
            return None
        self._folder.mkdir(parents=True, exist_ok=True)
        self._trial.write_bytes(bytes([ONE_ALONE + int(number[1])]) + path.read_bytes()[1:])
        seen = replay.run_input(self._judge, self._trial, self._env, quick=True)
        return seen if seen is not None and seen.key == report.key else None

    @property
    def _trial(self) -> Path:
        # The name contains the pid, because a replay may run at the same time as a run.
        return self._folder / f"trial-{os.getpid()}"

    def _save(self, report: Report, data: bytes) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^\w.-]+", "-", report.key).strip("-")[:60]
        path = self._folder / f"{name}-{hashlib.sha256(data).hexdigest()[:8]}"
        path.write_bytes(data)
        return path

    def minimise(self, finding: Finding, stopped: Callable[[], object]) -> None:
        """Minimise the input of a finding.

        A hang is not minimised, because each try would take its whole time limit.
        """
        if not finding.reproduces or finding.report.key.split()[0] in ("timeout", "hang"):
            return
        quick = finding.report.oracle is not None
        trial = self._trial

        # The first bytes of an input select the batch. So a shorter input can decode to a longer
        # case.
        longest = len("".join(finding.report.case)) if self._target.shim else None

        def same(data: bytes) -> bool:
            nonlocal longest
            trial.write_bytes(data)
            seen = replay.run_input(self._judge, trial, self._env, quick=quick)
            if seen is None or seen.key != finding.report.key or seen.is_one_of(self._ignored):
                return False
            if longest is None:
                return True
            if len("".join(seen.case)) > longest:
                return False
            longest = len("".join(seen.case))
            return True

        # Replace bytes by a readable byte, or by 0, with which a generator makes its first choice.
        plain = b"0" if self._target.input == "raw bytes" else b"\0"
        until = time.monotonic() + MINIMISE_S / len(self.by_key)
        small = replay.minimise(
            finding.data, same, plain, lambda: time.monotonic() < until and not stopped()
        )
        trial.unlink(missing_ok=True)
        if small != finding.data:
            finding.path.unlink()
            finding.path = self._save(finding.report, small)
            seen = replay.run_input(self._judge, finding.path, self._env)
            finding.report = seen or finding.report

    def command(self, finding: Finding) -> str:
        """Return a shell command that reproduces the finding.

        The command works in the root of the checkout. The command of an installed kit works in any
        folder.
        """
        assignments = [f"{name}={shlex.quote(value)}" for name, value in self._env.items()]
        words = [_shell_path(self._judge), _shell_path(finding.path)]
        return " ".join([*assignments, shlex.join(words)])


def _shell_path(path: Path) -> str:
    here = not INSTALLED and path.is_relative_to(ROOT)
    return str(path.relative_to(ROOT)) if here else str(path)
