"""The columns of a matrix, a file each: one that was broken off goes on with them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from contracts.backend.peers.cells import Cell, State
from contracts.backend.peers.judged import Candidate, Column

Facts = dict[str, Any]


def write(results: Path, column: Column, topics: Iterable[str], host: Facts) -> None:
    """Keeps it, if it is whole: what was missing may be there the next time. host: what of this
    machine a cell may depend on."""
    if column.why:
        return
    place = _place(results, column.candidate)
    place.parent.mkdir(exist_ok=True)
    text = json.dumps({"topics": sorted(topics), "host": host, "column": column.to_json()})
    new = place.with_suffix(f".{os.getpid()}")
    new.write_text(text, encoding="utf-8")
    new.replace(place)


def read(
    results: Path,
    candidate: Candidate,
    topics: Iterable[str],
    host: Facts,
    version: str,
    kit: Facts,
) -> Column | None:
    """The column of this backend, if the same was asked by the same kit, of the same version and on
    the same host; None where there is none to be used, for cells of two of them do not mix."""
    try:
        found = json.loads(_place(results, candidate).read_bytes())
        said = found["column"]
        asked = (sorted(topics), host, candidate.shim, version, kit)
        if (found["topics"], found["host"], said["shim"], said["version"], said["kit"]) != asked:
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
