"""Read the settings of other tools as expectations, and explain their entries.

The folder `dialects` has a module for each format; this module finds it by its file.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from boxspec.errors import UsageError
from boxspec.places import ROOT
from boxspec.verify.meaning import Entry, Meaning, Where
from boxspec.verify.result import Verdict
from boxspec.verify.row import Status
from boxspec.verify.rule import Rule

FOLDER = ROOT / "conformance" / "dialects"
# A larger file is refused, because no settings file is that large.
MOST_BYTES = 4 << 20
LATER = ("made after the start", "no such path at the start")


@dataclass(frozen=True)
class Dialect:
    """A format of settings.

    names: all names of the format; the first one is printed.
    written_for: the product, versions and date that the reader was written for.
    read_all: reads several files that count together; None if each file counts for itself.
    """

    names: tuple[str, ...]
    written_for: str
    read: Callable[[str, Where], list[Entry]]
    read_all: Callable[[Sequence[tuple[str, Where]]], list[list[Entry]]] | None = None


@dataclass(frozen=True)
class SettingsOfTool:
    """The entries of one settings file."""

    name: str
    dialect: Dialect
    entries: tuple[Entry, ...]

    def origin(self, entry: Entry) -> str:
        return f"{self.name}:{entry.line}"

    @property
    def rules(self) -> list[Rule]:
        return [rule for entry in self.entries for rule in self.rules_of(entry)]

    def rules_of(self, entry: Entry) -> list[Rule]:
        return [Rule(kind, value, self.origin(entry)) for kind, value in entry.rules]

    def as_shown(self, home: Path, root: Path) -> SettingsOfTool:
        """Return the same entries, with the paths of their rules as the rows show them."""
        return replace(
            self,
            entries=tuple(
                replace(
                    entry,
                    rules=tuple(
                        (kind, Rule(kind, value, "").as_shown(home, root).value)
                        for kind, value in entry.rules
                    ),
                )
                for entry in self.entries
            ),
        )


@cache
def dialects() -> dict[str, Dialect]:
    """Return the readers by each of their names."""
    found: dict[str, Dialect] = {}
    for path in sorted(FOLDER.glob("*.py")):
        module: Any = importlib.import_module(f"dialects.{path.stem}")
        if hasattr(module, "NAMES"):
            together = getattr(module, "read_all", None)
            made = Dialect(module.NAMES, module.WRITTEN_FOR, module.read, together)
            found |= dict.fromkeys(module.NAMES, made)
    return found


def read(files: Sequence[tuple[str, Path]], home: Path, cwd: Path) -> list[SettingsOfTool]:
    """Read settings files, each in the format of its name. Files of one tool may count together."""
    texts = [(_text(name, path), Where(home, cwd, path.absolute())) for name, path in files]
    of_file = [dialects()[name] for name, _ in files]
    made: dict[int, SettingsOfTool] = {}
    for dialect in dict.fromkeys(of_file):
        numbers = [number for number, each in enumerate(of_file) if each is dialect]
        given = [texts[number] for number in numbers]
        together = dialect.read_all if len(given) > 1 else None
        read_each = [dialect.read(*each) for each in given] if together is None else together(given)
        for number, entries in zip(numbers, read_each, strict=True):
            ordered = sorted(entries, key=lambda each: each.line)
            made[number] = SettingsOfTool(files[number][1].name, dialect, tuple(ordered))
    return [made[number] for number in range(len(files))]


def _text(name: str, path: Path) -> str:
    known = dialects()
    if name not in known:
        names = ", ".join(dict.fromkeys(each.names[0] for each in known.values()))
        raise UsageError(f"--from {name}", "no such format", f"known: {names}")
    try:
        data = path.read_bytes()
    except OSError as why:
        raise UsageError(str(path), f"cannot be read: {why.strerror}", "name a file") from None
    if len(data) > MOST_BYTES:
        raise UsageError(str(path), "is too large for settings", "name another file")
    return data.decode("utf-8", "replace")


def explanation(found: SettingsOfTool) -> Iterator[str]:
    """Yield a line for each entry, with its documented meaning."""
    yield f"{found.name} as documented for {found.dialect.written_for}"
    for each in found.entries:
        yield line_of(found, each, each.meaning.value)
    if not found.entries:
        yield "no entry that concerns a sandbox"


def line_of(found: SettingsOfTool, entry: Entry, word: str) -> str:
    what = f"{entry.key} {entry.value}".strip()
    return f"{found.origin(entry)}  {word:<17}  {what or 'the file'}: {entry.why}"


def observed(found: SettingsOfTool, verdicts: Iterable[Verdict]) -> list[tuple[Entry, str]]:
    """Return the observed effect of each entry. If no row checks an entry, return the documented
    effect."""
    rows = {each.row.id: each for each in verdicts}
    return [(entry, _word(entry, found, rows)) for entry in found.entries]


def _word(entry: Entry, found: SettingsOfTool, rows: dict[str, Verdict]) -> str:
    mine = [rows[rule.id] for rule in found.rules_of(entry) if rule.id in rows]
    statuses = {each.status for each in mine}
    documented: str = entry.meaning.value
    if not mine or statuses == {Status.NOT_TESTED}:
        return documented
    if Status.LEAKED in statuses:
        leaks = [line for each in mine if each.status is Status.LEAKED for line in each.evidence]
        late = all(any(mark in line for mark in LATER) for line in leaks)
        return "narrower" if late or Status.HELD in statuses else "dead"
    return "dead" if Status.BLOCKED in statuses else "enforced"


def plain(found: SettingsOfTool, verdicts: Iterable[Verdict]) -> Iterator[dict[str, object]]:
    """Yield the JSON of each entry."""
    for entry, word in observed(found, verdicts):
        yield {
            "origin": found.origin(entry),
            "key": entry.key,
            "value": entry.value,
            "documented": entry.meaning.value,
            "observed": word if entry.rules else None,
            "why": entry.why,
            "rows": [rule.id for rule in found.rules_of(entry)],
        }


def differing(found: SettingsOfTool, verdicts: Iterable[Verdict]) -> list[str]:
    """Return a line for each entry whose observed effect is not simply `enforced`."""
    made = []
    for entry, word in observed(found, verdicts):
        if word != Meaning.ENFORCED.value:
            made.append(line_of(found, entry, word))
        elif entry.meaning not in (Meaning.ENFORCED, Meaning.NOT_TESTABLE):
            made.append(
                line_of(found, entry, f"enforced here, {entry.meaning.value} as documented")
            )
    return made
