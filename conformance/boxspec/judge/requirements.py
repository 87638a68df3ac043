"""The numbered requirements and the pitfall rows, as the folders of the contracts have them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from boxspec.errors import UsageError
from boxspec.programs import ROOT

CONTRACTS = ROOT / "conformance" / "contracts"
PITFALLS = "pitfalls*.yaml"
LEVELS = ("MUST", "SHOULD", "MAY")
PROFILES = ("contract", "hardened")


@dataclass(frozen=True)
class Requirement:
    """clause: one sentence that stands alone. page: the same as the page of the contract has it,
    in its context, where that is another text."""

    id: str
    level: str
    profile: str
    clause: str
    source: str
    since: str
    contract: str
    page: str
    untestable: str | None = None
    capability: str | None = None

    @property
    def testable(self) -> bool:
        return self.untestable is None

    @property
    def topic(self) -> str:
        return self.id.rsplit("-", 1)[0]


def _wrong(path: Path, problem: str) -> UsageError:
    return UsageError(str(path), problem, "the head of the file says what an entry has")


def _entry(path: Path, contract: str, entry: Any) -> Requirement:
    if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
        raise _wrong(path, f"an entry without id: {entry!r:.80}")
    name = entry["id"]
    missing = {"level", "profile", "clause", "source", "since", "testable"} - set(entry)
    unknown = set(entry) - {
        *("id", "level", "profile", "clause", "page", "source", "since", "testable", "capability"),
    }
    if missing or unknown:
        raise _wrong(path, f"{name}: missing {sorted(missing)}, unknown {sorted(unknown)}")
    if entry["level"] not in LEVELS or entry["profile"] not in PROFILES:
        raise _wrong(path, f"{name}: level {entry['level']!r}, profile {entry['profile']!r}")
    clause = " ".join(str(entry["clause"]).split())
    return Requirement(
        id=name,
        level=entry["level"],
        profile=entry["profile"],
        clause=clause,
        page=" ".join(str(entry.get("page", clause)).split()),
        source=str(entry["source"]),
        since=str(entry["since"]),
        contract=contract,
        untestable=None if entry["testable"] is True else str(entry["testable"]),
        capability=entry.get("capability"),
    )


@cache
def load() -> dict[str, Requirement]:
    """All requirements of all contracts, by id, in the order of the files."""
    found: dict[str, Requirement] = {}
    for path in sorted(CONTRACTS.glob("*/requirements.yaml")):
        # The C loader is ten times as fast; every start of the suite reads these files.
        document = yaml.load(
            path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        )
        entries = document.get("requirements") if isinstance(document, dict) else document
        contract = path.parent.name
        if not isinstance(entries, list):
            raise _wrong(path, "no list of requirements")
        for entry in entries:
            made = _entry(path, contract, entry)
            if made.id in found:
                raise _wrong(path, f"{made.id} twice")
            found[made.id] = made
    return found


@dataclass(frozen=True)
class Pitfall:
    """One row of the catalogue of pitfalls; `why_not` when no test can show it."""

    id: str
    name: str = ""
    why_not: str | None = None


def pitfalls(folder: Path = CONTRACTS) -> dict[str, Pitfall]:
    """All rows of pitfalls*.yaml below a folder: an id to the reason why no test shows it, or to
    an object."""
    found = {}
    for path in sorted(folder.rglob(PITFALLS)):
        document = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        rows = document.get("pitfalls", document) if isinstance(document, dict) else document
        if isinstance(rows, list):
            rows = {row["id"]: row for row in rows}
        for name, row in rows.items():
            if not isinstance(row, dict):
                row = {"why_not": row}
            why = row.get("why_not") or row.get("reason") or row.get("why")
            found[str(name)] = Pitfall(str(name), str(row.get("name", "")), why and str(why))
    return found


def requirement(name: str) -> Requirement:
    """The requirement, or a usage error with what was probably meant."""
    found = load().get(name.upper())
    if found is None:
        close = difflib.get_close_matches(name.upper(), load(), 3)
        hint = f"did you mean {', '.join(close)}?" if close else "boxspec list names them"
        raise UsageError(name, "no such requirement", hint)
    return found


def contract_of(name: str) -> str:
    """EXEC-TIMEOUT-01 belongs to exec."""
    return name.partition("-")[0].lower()


def select(contracts: Iterable[str], profiles: Iterable[str] = PROFILES) -> dict[str, Requirement]:
    """The testable requirements of these contracts and profiles."""
    wanted, kinds = set(contracts), set(profiles)
    return {
        name: each
        for name, each in load().items()
        if each.contract in wanted and each.profile in kinds and each.testable
    }
