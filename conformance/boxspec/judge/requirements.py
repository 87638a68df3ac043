"""Read the numbered requirements and the pitfalls from the folders of the contracts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from boxspec.errors import UsageError
from boxspec.places import CONTRACTS

PITFALLS = "pitfalls*.yaml"
LEVELS = ("MUST", "SHOULD", "MAY")
PROFILES = ("contract", "hardened")
# The console shows a MUST under a word for its profile, and every SHOULD and MAY as the last one.
KINDS = ("required", "hardened", "recommended")


@dataclass(frozen=True)
class Requirement:
    """One numbered rule of a contract.

    links: maps each public source that `source` names to its address.
    """

    id: str
    level: str
    profile: str
    clause: str
    source: str
    since: str
    contract: str
    untestable: str | None = None
    capability: str | None = None
    # Requirements without which this one cannot be decided.
    needs: tuple[str, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)

    @property
    def testable(self) -> bool:
        return self.untestable is None

    @property
    def topic(self) -> str:
        return self.id.rsplit("-", 1)[0]

    @property
    def kind(self) -> str:
        """Return one of KINDS."""
        return kind_of(self.level, self.profile)


def kind_of(level: str, profile: str) -> str:
    return KINDS[PROFILES.index(profile)] if level == "MUST" else KINDS[-1]


def _wrong(path: Path, problem: str) -> UsageError:
    return UsageError(str(path), problem, "the head of the file describes the fields of an entry")


def _addresses(path: Path, document: Any) -> dict[str, str]:
    """Read `sources` at the head of a file: the name and address of each public source."""
    found = document.get("sources", {}) if isinstance(document, dict) else {}
    if not isinstance(found, dict):
        raise _wrong(path, "sources is not a mapping of names to addresses")
    for name, url in found.items():
        if not isinstance(url, str) or not re.fullmatch(r"https://[^\s<>\"')]+", url):
            raise _wrong(
                path, f"sources: {name}: {url!r} is not an address that begins with https://"
            )
    return found


def _links(source: str, addresses: Mapping[str, str]) -> dict[str, str]:
    def is_named(name: str) -> bool:
        return re.search(rf"(?<!\w){re.escape(name)}(?![\w])", source) is not None

    return {name: url for name, url in addresses.items() if is_named(name)}


def _entry(path: Path, contract: str, entry: Any, addresses: Mapping[str, str]) -> Requirement:
    if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
        raise _wrong(path, f"an entry without id: {entry!r:.80}")
    name = entry["id"]
    missing = {"level", "profile", "clause", "source", "since", "testable"} - set(entry)
    unknown = set(entry) - {
        *("id", "level", "profile", "clause", "source", "since", "testable", "capability"),
        "needs",
    }
    if missing or unknown:
        raise _wrong(path, f"{name}: missing {sorted(missing)}, unknown {sorted(unknown)}")
    if entry["level"] not in LEVELS or entry["profile"] not in PROFILES:
        raise _wrong(path, f"{name}: level {entry['level']!r}, profile {entry['profile']!r}")
    return Requirement(
        id=name,
        level=entry["level"],
        profile=entry["profile"],
        clause=" ".join(str(entry["clause"]).split()),
        source=str(entry["source"]),
        since=str(entry["since"]),
        contract=contract,
        untestable=None if entry["testable"] is True else str(entry["testable"]),
        capability=entry.get("capability"),
        needs=tuple(_names(path, name, entry.get("needs", []))),
        links=_links(str(entry["source"]), addresses),
    )


def _names(path: Path, name: str, needs: Any) -> list[str]:
    if not isinstance(needs, list) or not all(isinstance(each, str) for each in needs):
        raise _wrong(path, f"{name}: needs {needs!r} is not a list of ids")
    return needs


@cache
def load() -> dict[str, Requirement]:
    """Return all requirements of all contracts by id, in the order of the files."""
    found: dict[str, Requirement] = {}
    for path in sorted(CONTRACTS.glob("*/requirements.yaml")):
        # These files are read at every start, and the loader in C is ten times as fast.
        document = yaml.load(
            path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        )
        entries = document.get("requirements") if isinstance(document, dict) else document
        contract = path.parent.name
        if not isinstance(entries, list):
            raise _wrong(path, "no list of requirements")
        addresses = _addresses(path, document)
        for entry in entries:
            made = _entry(path, contract, entry, addresses)
            if made.id in found:
                raise _wrong(path, f"{made.id} twice")
            found[made.id] = made
        named = {
            name for each in found.values() if each.contract == contract for name in each.links
        }
        if unused := sorted(set(addresses) - named):
            raise _wrong(path, f"sources: {unused[0]} is the source of no requirement")
    _check_needs(found)
    return found


def _check_needs(found: dict[str, Requirement]) -> None:
    """Check that each needed requirement exists, unless its contract is not installed, and that
    needs form no circle."""
    contracts = {each.contract for each in found.values()}
    for name, each in found.items():
        path = CONTRACTS / each.contract / "requirements.yaml"
        for needed in each.needs:
            if needed not in found and contract_of(needed) in contracts:
                raise _wrong(path, f"{name}: needs {needed}, which is not a requirement")
        if name in closure(each.needs, found):
            raise _wrong(path, f"{name}: needs itself")


def closure(needs: Iterable[str], known: Mapping[str, Requirement] | None = None) -> set[str]:
    """Return these requirements and all that they need, directly or indirectly."""
    known = load() if known is None else known
    found: set[str] = set()
    todo = [*needs]
    while todo:
        name = todo.pop()
        if name in known and name not in found:
            found.add(name)
            todo += known[name].needs
    return found


@dataclass(frozen=True)
class Pitfall:
    """A known mistake of existing software. `why_not` gives the reason if no test can show it."""

    id: str
    name: str = ""
    why_not: str | None = None


def pitfalls(folder: Path = CONTRACTS) -> dict[str, Pitfall]:
    """Read all pitfalls from pitfalls*.yaml below a folder.

    An entry is either the reason why no test shows the pitfall, or an object.
    """
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
    """Return the requirement; raise a UsageError that suggests similar names."""
    known, wanted = load(), name.upper()
    if wanted in known:
        return known[wanted]
    if ids := [each.id for each in known.values() if each.topic == wanted]:
        remedy = f"its requirements are {ids[0]} to {ids[-1]}; run --topic {wanted} takes all"
        raise UsageError(name, "a topic, not a requirement", remedy)
    if wanted in {each.contract.upper() for each in known.values()}:
        remedy = f"--contract {name.lower()} takes all its requirements"
        raise UsageError(name, "a contract, not a requirement", remedy)
    if "/" in name:
        raise UsageError(name, "no such requirement", f"if it is a program: --shim {name}")
    raise UsageError.unknown(name, "requirement", wanted, known, "boxspec list")


def contract_of(name: str) -> str:
    """Return the contract of a requirement: `exec` for EXEC-TIMEOUT-01."""
    return name.partition("-")[0].lower()


def select(contracts: Iterable[str], profiles: Iterable[str] = PROFILES) -> dict[str, Requirement]:
    """Return the testable requirements of these contracts and profiles."""
    wanted, kinds = set(contracts), set(profiles)
    return {
        name: each
        for name, each in load().items()
        if each.contract in wanted and each.profile in kinds and each.testable
    }
