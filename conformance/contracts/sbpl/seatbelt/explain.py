"""`boxspec sbpl explain`: show the clause that decides."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from boxspec.errors import UsageError
from contracts.sbpl.seatbelt.decide import Decider, Outcome, Reading, Ruling
from contracts.sbpl.seatbelt.filters import Subject
from contracts.sbpl.seatbelt.forms import load
from contracts.sbpl.seatbelt.operations import known, on_paths
from contracts.sbpl.seatbelt.reader import Unreadable

ALLOWED, OTHERWISE = 0, 3


def explain(
    file: Path,
    operation: str,
    path: str | None,
    params: Mapping[str, str],
    imports: Mapping[str, str],
) -> int:
    """Print the decision; return 0 if allowed, 3 if denied, ambiguous or undecidable."""
    try:
        profile = load(
            _bytes(file),
            {name: value.encode("utf-8", "surrogateescape") for name, value in params.items()},
            {name: _bytes(Path(place)) for name, place in imports.items()},
        )
    except Unreadable as why:
        word = "undecidable" if why.kind == "undecidable" else "sandbox-exec would refuse it"
        raise UsageError(f"{file}:{why.line}", f"{word}: {why.words}", "fix the line") from None
    if not known(operation):
        raise UsageError(operation, "no operation of Seatbelt", "file-write-create is one")
    if path is None and on_paths(operation):
        raise UsageError(operation, "is about a path", "give a path after it")
    if path is not None and not path.startswith("/"):
        raise UsageError(path, "is not absolute", "give the path that the kernel reports")
    subject = Subject(path=None if path is None else path.encode("utf-8", "surrogateescape"))
    ruling = Decider(profile).decide(operation, subject)
    sys.stdout.write(described(ruling, operation, path))
    return ALLOWED if ruling.allowed else OTHERWISE


def described(ruling: Ruling, operation: str, path: str | None) -> str:
    words = " ".join(filter(None, (ruling.outcome.value, operation, path)))
    why = f"  ({ruling.why})" if ruling.why else ""
    lines = [f"{words}{why}"]
    if (ruling.last.outcome, ruling.last.clause) == (
        ruling.specific.outcome,
        ruling.specific.clause,
    ):
        lines += _reading("both readings", ruling.last)
    else:
        lines += _reading("the last that matches", ruling.last)
        lines += _reading("the most specific", ruling.specific)
    return "".join(f"{line}\n" for line in lines)


def _reading(name: str, reading: Reading) -> list[str]:
    lines = [f"  {name:<22} maybe line {each.line}: {each}" for each in reading.unknown]
    if reading.clause is not None:
        return [*lines, f"  {name:<22} line {reading.clause.line}: {reading.clause}"]
    return [*lines, f"  {name:<22} no clause matches, which is a denial"]


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as why:
        raise UsageError(str(file), str(why.strerror), "name a profile") from None


__all__ = ["ALLOWED", "OTHERWISE", "Outcome", "explain"]
