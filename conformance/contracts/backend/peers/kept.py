"""The columns of a matrix, a file each: one that was broken off goes on with them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from contracts.backend.peers.cells import Cell, State
from contracts.backend.peers.judged import Candidate, Column


def write(results: Path, column: Column, topics: Iterable[str]) -> None:
    """Keeps it, if it is whole: what was missing may be there the next time."""
    if column.why:
        return
    place = _place(results, column.candidate)
    place.parent.mkdir(exist_ok=True)
    text = json.dumps({"topics": sorted(topics), "column": column.to_json()})
    new = place.with_suffix(f".{os.getpid()}")
    new.write_text(text, encoding="utf-8")
    new.replace(place)


def read(results: Path, candidate: Candidate, topics: Iterable[str]) -> Column | None:
    """The column of this backend, if the same was asked; None where there is none to be used."""
    try:
        found = json.loads(_place(results, candidate).read_bytes())
        said = found["column"]
        if found["topics"] != sorted(topics) or said["shim"] != candidate.shim:
            return None
        return Column(
            candidate,
            **{name: said[name] for name in ("version", "mechanism", "why", "claims", "kit")},
            cells=[Cell(**{**each, "state": State(each["state"])}) for each in said["cells"]],
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _place(results: Path, candidate: Candidate) -> Path:
    return results / "columns" / f"{candidate.label.replace(':', '-').replace('/', '-')}.json"
