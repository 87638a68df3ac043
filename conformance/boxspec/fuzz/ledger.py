"""The results file. It has one line of JSON for each run, and runs only append lines."""

from __future__ import annotations

import errno
import json
import os
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from boxspec.errors import UsageError
from boxspec.fuzz import targets
from boxspec.fuzz.status import count
from boxspec.places import ROOT
from boxspec.plural import many


@dataclass(frozen=True)
class Found:
    """A finding of a run. Findings with equal keys are the same finding."""

    key: str
    message: str
    kept: str


@dataclass(frozen=True)
class Entry:
    """One run.

    at: its start in UTC.
    dirty: True if the checkout differed from the commit.
    """

    at: str
    commit: str | None
    dirty: bool
    target: str
    engine: str
    jobs: int
    seed: int
    wall_s: float
    cpu_s: float
    runs: int
    inputs_before: int
    inputs_after: int
    edges: int | None
    ended_early: str | None
    findings: tuple[Found, ...]

    @staticmethod
    def read(line: str) -> Entry:
        fields = json.loads(line)
        found = tuple(Found(**each) for each in fields.pop("findings"))
        return Entry(**fields, findings=found)


class Ledger:
    """A results file.

    It is read again at each call, because several engines or machines may append to it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def entries(self) -> list[Entry]:
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as why:
            raise UsageError(f"--results {self.path}", str(why), "use a results file") from None
        return [self._entry(number, line) for number, line in enumerate(lines, 1)]

    def _entry(self, number: int, line: str) -> Entry:
        try:
            return Entry.read(line)
        except (ValueError, KeyError, TypeError, AttributeError):
            place = f"{self.path}:{number}"
            raise UsageError(place, "is not a result of a run", "remove this line") from None

    def open(self) -> None:
        """Before a run starts, check that the file can be written."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.open("ab").close()
        except OSError as why:
            raise self._unwritten(why) from None

    def append(self, entry: Entry) -> None:
        line = json.dumps(asdict(entry)).encode() + b"\n"
        try:
            # One write call for the whole line, so that the lines of several writers do not mix.
            with self.path.open("ab", buffering=0) as out:
                if out.write(line) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as why:
            raise self._unwritten(why) from None

    def _unwritten(self, why: OSError) -> UsageError:
        return UsageError(f"--results {self.path}", why.strerror or str(why), "name another file")


def checkout(ledger: Path) -> tuple[str | None, bool]:
    """Return the commit of this checkout, and True if files other than the ledger differ from
    it."""

    def git(*words: str) -> str | None:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    but = [f":(exclude){ledger.relative_to(ROOT)}"] if ledger.is_relative_to(ROOT) else []
    changed = git("status", "--porcelain", "--", ".", *but)
    return git("rev-parse", "HEAD"), changed != ""


# Summary ------------------------------------------------------------------------------------


def seconds_of(entries: Iterable[Entry], engine: str) -> dict[str, float]:
    """Return the total run time of each target."""
    spent: dict[str, float] = defaultdict(float)
    for entry in entries:
        if entry.engine == engine:
            spent[entry.target] += entry.wall_s
    return spent


def clock(seconds: float) -> str:
    """Format a duration, such as `45s`, `10m` or `2h 5m`."""
    whole = round(seconds)
    if whole < 3600:
        parts = [(whole // 60, "m"), (whole % 60, "s")]
    else:
        parts = [(whole // 3600, "h"), (whole % 3600 // 60, "m")]
    return " ".join(f"{n}{unit}" for n, unit in parts if n) or "0s"


def report(entries: Sequence[Entry]) -> list[str]:
    """Return the lines of a report: for each engine one line per target with its findings, and the
    total."""
    lines: list[str] = []
    for engine in sorted({entry.engine for entry in entries}):
        ours = [entry for entry in entries if entry.engine == engine]
        named = [*targets.every(), *sorted({entry.target for entry in ours} - set(targets.every()))]
        width = max(map(len, named))
        for name in named:
            lines += _about(name, [entry for entry in ours if entry.target == name], engine, width)
        lines.append(f"{'all':{width}} · {_total(ours, engine)}")
    return lines


def _about(name: str, entries: Sequence[Entry], engine: str, width: int) -> list[str]:
    if not entries:
        return [f"{name:{width}} · {engine} · no run yet"]
    known = {found.key: found for entry in entries for found in entry.findings}
    found = [f"  {each.key}: {each.message}\n    {each.kept}" for each in known.values()]
    return [f"{name:{width}} · {_total(entries, engine)}", *found]


def _total(entries: Sequence[Entry], engine: str) -> str:
    wall, cpu = (clock(sum(getattr(e, name) for e in entries)) for name in ("wall_s", "cpu_s"))
    runs = count(sum(entry.runs for entry in entries))
    found = len({(entry.target, each.key) for entry in entries for each in entry.findings})
    return f"{engine} · {wall}, CPU {cpu} · {runs} runs · {many(found, 'finding')}"
