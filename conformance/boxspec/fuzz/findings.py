"""The findings of a run: told apart by what was said, replayed, made small, kept."""

from __future__ import annotations

import hashlib
import re
import shlex
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from boxspec.fuzz import replay, report
from boxspec.fuzz.engine import Crash
from boxspec.fuzz.report import Report
from boxspec.fuzz.targets import Target
from boxspec.programs import ROOT

MINIMISE_S = 20.0


@dataclass
class Finding:
    """`path` is the input that is kept, the smallest that says the same."""

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
    """`env` is what a target needs to find it again: a shim, a lie."""

    def __init__(self, target: Target, judge: Path, folder: Path, env: Mapping[str, str]) -> None:
        self._target, self._judge, self._env = target, judge, env
        self._folder = folder / "findings"
        self.by_key: dict[str, Finding] = {}

    def take(self, crash: Crash) -> bool:
        """False for one that is known. What the engine heard counts first: it costs nothing."""
        heard = report.read(crash.said)
        if heard is not None and heard.key in self.by_key:
            self.by_key[heard.key].times += 1
            return False
        seen = replay.look(self._judge, crash.input, self._env, quick=True)
        if seen is None or seen.oracle is None:
            seen = replay.look(self._judge, crash.input, self._env)
        told = seen or heard
        if told is None and not crash.sure:
            # Slow on a busy machine, say, and in order when it is asked alone.
            return False
        told = told or Report("engine", "its own build falls over it, the one that judges does not")
        if told.key in self.by_key:
            self.by_key[told.key].times += 1
            return False
        data = crash.input.read_bytes()
        path = self._keep(told, data)
        made = Finding(self._target, told, path, len(data), reproduces=seen is not None)
        self.by_key[told.key] = made
        return True

    def _keep(self, told: Report, data: bytes) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^\w.-]+", "-", told.key).strip("-")[:60]
        path = self._folder / f"{name}-{hashlib.sha256(data).hexdigest()[:8]}"
        path.write_bytes(data)
        return path

    def minimise(self, finding: Finding, stopped: Callable[[], object]) -> None:
        """A hang costs its whole limit each time and is left as it is."""
        if not finding.reproduces or finding.report.key.split()[0] in ("timeout", "hang"):
            return
        quick = finding.report.oracle is not None
        trial = self._folder / "trial"

        def same(data: bytes) -> bool:
            trial.write_bytes(data)
            seen = replay.look(self._judge, trial, self._env, quick=quick)
            return seen is not None and seen.key == finding.report.key

        # The simplest byte to read, or the first choice of a generator.
        plain = b"0" if self._target.input == "raw bytes" else b"\0"
        until = time.monotonic() + MINIMISE_S
        small = replay.minimise(
            finding.data, same, plain, lambda: time.monotonic() < until and not stopped()
        )
        trial.unlink(missing_ok=True)
        if small != finding.data:
            finding.path.unlink()
            finding.path = self._keep(finding.report, small)
            seen = replay.look(self._judge, finding.path, self._env)
            finding.report = seen or finding.report

    def command(self, finding: Finding) -> str:
        """Pasteable, from the root of the checkout."""
        assignments = [f"{name}={shlex.quote(value)}" for name, value in self._env.items()]
        words = [_beside(self._judge), _beside(finding.path)]
        return " ".join([*assignments, shlex.join(words)])


def _beside(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
