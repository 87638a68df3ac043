"""The baseline `known.toml`: deviations that are known, each with a reason and a date."""

from __future__ import annotations

import datetime
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from boxspec.errors import UsageError
from boxspec.judge.requirements import load
from boxspec.judge.verdict import Verdict


@dataclass(frozen=True)
class Known:
    id: str
    verdict: Verdict
    reason: str
    issue: str = ""
    until: datetime.date | None = None


@dataclass
class Baseline:
    entries: dict[str, Known]
    today: datetime.date = field(default_factory=datetime.date.today)

    def covers(self, name: str, verdict: Verdict, reason: str) -> bool:
        """The same verdict for the same reason, and not expired."""
        entry = self.entries.get(name)
        return (
            entry is not None
            and entry.verdict is verdict
            and entry.reason == reason
            and not self._expired(entry)
        )

    def _expired(self, entry: Known) -> bool:
        return entry.until is not None and entry.until < self.today

    def stale(self, found: dict[str, tuple[Verdict, str]]) -> list[str]:
        """Entries that no longer say what is: one line each."""
        lines = []
        for name, entry in self.entries.items():
            if name not in load():
                lines.append(f"{name}: no such requirement")
            elif self._expired(entry):
                lines.append(f"{name}: its date {entry.until} has passed")
            elif name in found and found[name][0] is Verdict.CONFORMS:
                lines.append(f"{name}: conforms now")
            elif name in found and found[name] != (entry.verdict, entry.reason):
                lines.append(f"{name}: now {found[name][0]}, {found[name][1]}")
        return lines


def read(path: Path) -> Baseline:
    """`[[known]]` tables: id, verdict, reason, issue, until."""
    remedy = "one [[known]] table each with id, verdict, reason, and if you like issue, until"
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as why:
        raise UsageError(f"--known {path}", why.strerror or str(why), "check the path") from None
    except ValueError as why:
        raise UsageError(f"--known {path}", f"is not TOML: {why}", remedy) from None
    entries = {}
    for table in document.get("known", []):
        try:
            entry = Known(**{**table, "verdict": Verdict(table["verdict"])})
        except (KeyError, TypeError, ValueError) as why:
            raise UsageError(f"--known {path}", f"bad entry: {why}", remedy) from None
        entries[entry.id] = entry
    return Baseline(entries)
