"""The file of results: a line of JSON for each run that was made, appended and never changed."""

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


@dataclass(frozen=True)
class Found:
    """A finding of a run; two with one key are one."""

    key: str
    message: str
    kept: str


@dataclass(frozen=True)
class Entry:
    """One run. `at` is when it began, in UTC; `dirty` says that the tree was not the commit's."""

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
    """Read anew each time: two engines, or two machines, may write into one file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def entries(self) -> list[Entry]:
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as why:
            raise UsageError(f"--results {self.path}", str(why), "name a file of results") from None
        return [self._entry(number, line) for number, line in enumerate(lines, 1)]

    def _entry(self, number: int, line: str) -> Entry:
        try:
            return Entry.read(line)
        except (ValueError, KeyError, TypeError, AttributeError):
            place = f"{self.path}:{number}"
            raise UsageError(place, "no result of a run", "take that line out") from None

    def open(self) -> None:
        """Whether it can be written is known before anything runs."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.open("ab").close()
        except OSError as why:
            raise self._unwritten(why) from None

    def append(self, entry: Entry) -> None:
        line = json.dumps(asdict(entry)).encode() + b"\n"
        try:
            # In one write, which others that append do not tear.
            with self.path.open("ab", buffering=0) as out:
                if out.write(line) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as why:
            raise self._unwritten(why) from None

    def _unwritten(self, why: OSError) -> UsageError:
        return UsageError(f"--results {self.path}", why.strerror or str(why), "name another file")


def checkout(ledger: Path) -> tuple[str | None, bool]:
    """The commit of this tree, and whether the tree differs from it; the ledger does not count."""

    def git(*words: str) -> str | None:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    but = [f":(exclude){ledger.relative_to(ROOT)}"] if ledger.is_relative_to(ROOT) else []
    changed = git("status", "--porcelain", "--", ".", *but)
    return git("rev-parse", "HEAD"), changed != ""


# The sum ------------------------------------------------------------------------------------


def seconds_of(entries: Iterable[Entry], engine: str) -> dict[str, float]:
    """How long each target has run so far."""
    spent: dict[str, float] = defaultdict(float)
    for entry in entries:
        if entry.engine == engine:
            spent[entry.target] += entry.wall_s
    return spent


def clock(seconds: float) -> str:
    """`45s`, `10m`, `2h 5m`: rounded to seconds below an hour, to minutes above."""
    whole = round(seconds)
    if whole < 3600:
        parts = [(whole // 60, "m"), (whole % 60, "s")]
    else:
        parts = [(whole // 3600, "h"), (whole % 3600 // 60, "m")]
    return " ".join(f"{n}{unit}" for n, unit in parts if n) or "0s"


def report(entries: Sequence[Entry]) -> list[str]:
    """For each engine a line for each target, one for each finding below it, and the sum."""
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
        return [f"{name:{width}} · {engine} · not yet"]
    known = {found.key: found for entry in entries for found in entry.findings}
    found = [f"  {each.key}: {each.message}\n    {each.kept}" for each in known.values()]
    return [f"{name:{width}} · {_total(entries, engine)}", *found]


def _total(entries: Sequence[Entry], engine: str) -> str:
    wall, cpu = (clock(sum(getattr(e, name) for e in entries)) for name in ("wall_s", "cpu_s"))
    runs = count(sum(entry.runs for entry in entries))
    found = len({(entry.target, each.key) for entry in entries for each in entry.findings})
    findings = f"{found} finding{'' if found == 1 else 's'}"
    return f"{engine} · {wall}, CPU {cpu} · {runs} runs · {findings}"
