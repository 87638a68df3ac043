"""Write the rows as a table and as JSON."""

import dataclasses
import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from harness.figures import Row


def _verdict(row: Row) -> str:
    if row.broken:
        return "NOT RUN"
    return {None: "", True: "met", False: "NOT MET"}[row.met]


def _ratio(row: Row) -> str:
    if row.ratio is None:
        return ""
    if row.interval is None:
        return f"{row.ratio:.3f}"
    return f"{row.ratio:.3f} [{row.interval[0]:.3f} {row.interval[1]:.3f}]"


def table(rows: Sequence[Row]) -> str:
    cells = [
        ("", "median", "ratio [95 %]", "goal", "verdict"),
        *(("  " + r.what, r.measured, _ratio(r), r.goal, _verdict(r)) for r in rows),
    ]
    widths = [max(len(line[column]) for line in cells) for column in range(5)]

    def line(parts: Sequence[str]) -> str:
        first, *rest = parts
        padded = [first.ljust(widths[0]), rest[0].rjust(widths[1])]
        padded += [part.ljust(width) for part, width in zip(rest[1:], widths[2:], strict=True)]
        return "  ".join(padded).rstrip()

    lines = [line(cells[0])]
    section = ""
    for row, parts in zip(rows, cells[1:], strict=True):
        if row.section != section:
            section = row.section
            lines.append(section)
        lines.append(line(parts))
    return "\n".join(lines)


def machine(load_before: float) -> dict[str, object]:
    return {
        "cpus": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "load_before": load_before,
        "load_after": os.getloadavg()[0],
    }


def write_json(path: Path, rows: Sequence[Row], about: dict[str, object], quick: bool) -> None:
    document = {
        "bench": "exec",
        "quick": quick,
        "machine": about,
        "rows": [dataclasses.asdict(row) for row in rows],
    }
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
