"""Read the results of an earlier matrix, for faults that have not changed since."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from boxspec.errors import UsageError
from boxspec.faults.fault import Fault
from boxspec.faults.outcome import Outcome

SCHEMA = "boxspec-faults/1"


def read(file: Path, chosen: Sequence[Fault], scope: str) -> list[Outcome]:
    """Return the outcomes that were as expected; all other faults run again.

    A missing file has no outcomes.
    """
    try:
        tree = json.loads(file.read_text(encoding="utf-8"))
        right = tree["schema"] == SCHEMA and tree["scope"] == scope
        rows: dict[str, dict[str, Any]] = {str(row["id"]): row for row in tree["faults"]}
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError):
        right, rows = False, {}
    if not right:
        problem = f"has no results with the scope {scope}"
        raise UsageError(f"--json {file}", problem, "leave out --resume, or name another file")
    found = [_outcome(fault, rows[fault.id]) for fault in chosen if fault.id in rows]
    return [each for each in found if each is not None and each.good]


def _outcome(fault: Fault, row: dict[str, Any]) -> Outcome | None:
    if (row["requirement"], row["mistake"]) != (fault.requirement, fault.mistake):
        return None
    return Outcome(fault, row["scope"], row["caught_by"], row["tries"], row["problem"])
