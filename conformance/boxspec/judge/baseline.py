"""Read the baseline `known.toml`: a list of accepted failures, each with requirement, test and
reason.

```toml
[[known]]
requirement = "EXEC-ORPHAN-03"
test = "test_an_orphan_is_killed[redirected]"  # optional; default: every test of the requirement
verdict = "fails"
why = "what the run left running"
issue = "https://example.org/7"                # optional, for readers
until = 2027-01-01                             # optional, the last day on which it is excused
flaky = true                                   # optional, may also conform; needs `until`
```

`boxspec baseline --write` creates the file. Reasons contain only facts that are the same in every
run. A requirement that fails now and then is entered with `flaky`: the run accepts a failure for
this reason, and the entry is not reported as outdated if the requirement conforms. A failure for
another reason still counts. A flaky entry needs a last day, because otherwise it would hide that
the failure has become permanent.
"""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boxspec.errors import UsageError
from boxspec.judge.requirements import load
from boxspec.judge.verdict import Verdict

REMEDY = (
    "write a [[known]] table per entry with requirement, test, verdict, why,"
    " and optionally issue, until, flaky"
)
FIELDS = ("requirement", "test", "verdict", "why", "issue", "until", "flaky")


@dataclass(frozen=True)
class VerdictReason:
    """The verdict of one test with its reason. `test` is empty if no test was run."""

    test: str
    verdict: Verdict
    why: str

    @property
    def text(self) -> str:
        return f"{self.verdict}, {self.why}" if self.why else str(self.verdict)


@dataclass(frozen=True)
class BaselineEntry:
    requirement: str
    verdict: Verdict
    why: str
    test: str = ""
    issue: str = ""
    until: datetime.date | None = None
    flaky: bool = False

    @property
    def name(self) -> str:
        return f"{self.requirement} {self.test}".rstrip()

    def is_about(self, reason: VerdictReason) -> bool:
        return self.test in ("", reason.test)

    def matches(self, reason: VerdictReason) -> bool:
        return self.is_about(reason) and (self.verdict, self.why) == (reason.verdict, reason.why)


@dataclass
class Baseline:
    entries: list[BaselineEntry]
    today: datetime.date = field(default_factory=datetime.date.today)

    def covers(self, name: str, reasons: Sequence[VerdictReason]) -> bool:
        """True if each of these reasons matches an entry that has not expired."""
        mine = [each for each in self.entries if each.requirement == name and self.is_valid(each)]
        return bool(reasons) and all(
            any(each.matches(reason) for each in mine) for reason in reasons
        )

    def is_valid(self, entry: BaselineEntry) -> bool:
        return entry.until is None or entry.until >= self.today

    def stale(self, found: Mapping[str, Sequence[VerdictReason]], *, whole: bool) -> list[str]:
        """Return one line for each entry that no longer matches the results.

        found: the verdicts of all tests of each requirement, including tests that conform.
        whole: True if the run ran all tests of these requirements.
        """
        lines = []
        for entry in self.entries:
            why = self._why_stale(entry, found, whole)
            if why is not None:
                lines.append(f"{entry.name}: {why}")
        return lines

    def _why_stale(
        self, entry: BaselineEntry, found: Mapping[str, Sequence[VerdictReason]], whole: bool
    ) -> str | None:
        if entry.requirement not in load():
            return "unknown requirement"
        if not self.is_valid(entry):
            return f"its date {entry.until} has passed"
        if entry.requirement not in found:
            return None
        mine = [reason for reason in found[entry.requirement] if entry.is_about(reason)]
        if any(entry.matches(reason) for reason in mine):
            return None
        if not mine:
            return "unknown test" if whole else None
        bad = [reason for reason in mine if reason.verdict is not Verdict.CONFORMS]
        if bad:
            return f"now {bad[0].text}"
        return None if entry.flaky else "conforms now"


def read(path: Path) -> Baseline:
    """Read a baseline file; raise a UsageError that names the first wrong entry."""
    place = f"--known {path}"
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as why:
        raise UsageError(place, why.strerror or str(why), "check the path") from None
    except ValueError as why:
        raise UsageError(place, f"is not valid TOML: {why}", REMEDY) from None
    tables = document.get("known", [])
    if not isinstance(tables, list) or set(document) - {"known"}:
        raise UsageError(place, "has entries other than [[known]] tables", REMEDY)
    entries: list[BaselineEntry] = []
    for number, table in enumerate(tables, 1):
        try:
            entry = _entry(table)
        except ValueError as why:
            raise UsageError(place, f"entry {number}: {why}", REMEDY) from None
        if any((entry.name, entry.why) == (each.name, each.why) for each in entries):
            raise UsageError(place, f"entry {number}: {entry.name} is listed twice", REMEDY)
        entries.append(entry)
    return Baseline(entries)


def _entry(table: Any) -> BaselineEntry:
    """Read one table; raise a ValueError that names the first problem."""
    if not isinstance(table, dict):
        raise ValueError("is not a table")
    for name in table:
        if name not in FIELDS:
            raise ValueError(f"unknown field `{name}`")
    for name in ("requirement", "verdict", "why"):
        if name not in table:
            raise ValueError(f"`{name}` is missing")
    for name, value in table.items():
        if name not in ("until", "flaky") and not isinstance(value, str):
            raise ValueError(f"`{name}` is not a text")
    given: dict[str, Any] = dict(table)
    if given["verdict"] not in [str(each) for each in Verdict]:
        raise ValueError(f"unknown verdict {given['verdict']!r}")
    given["verdict"] = Verdict(given["verdict"])
    if "until" in given:
        given["until"] = _date(given["until"])
    if not isinstance(given.get("flaky", False), bool):
        raise ValueError("`flaky` is neither true nor false")
    if given.get("flaky") and "until" not in given:
        raise ValueError("`flaky` needs an `until`")
    return BaselineEntry(**given)


def _date(value: Any) -> datetime.date:
    """Return a date, which is written as a TOML date, as a TOML date-time or as a text."""
    if isinstance(value, datetime.datetime):
        return value.date()
    if isinstance(value, datetime.date):
        return value
    if isinstance(value, str):
        try:
            return datetime.date.fromisoformat(value)
        except ValueError:
            pass
    raise ValueError(f"`until` is not a date like 2027-01-01: {value!r}")
