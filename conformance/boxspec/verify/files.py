"""Write a verification as JSON, JUnit, SARIF or Markdown, and compare it with an earlier one."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any
from urllib.parse import quote

from boxspec.errors import UsageError
from boxspec.printable import one_line
from boxspec.report.formats import sarif
from boxspec.verify.result import Verdict, Verification
from boxspec.verify.row import Status
from boxspec.verify.table import closing, repeat

SCHEMA = "boxspec-verify/1"
BAD = (Status.LEAKED.value, Status.BLOCKED.value)
Plain = dict[str, Any]


def plain(found: Verification) -> Plain:
    """Return a verification as JSON."""
    return {
        "schema": SCHEMA,
        "started": found.started,
        "seconds": round(found.seconds, 3),
        "command": list(found.command),
        "product": found.product,
        "starts": found.starts,
        "exit_status": found.exit_status,
        "counts": {status.value: found.count(status) for status in Status},
        "rows": [_row(each, found) for each in found.verdicts],
        "rules": list(found.rules),
    }


def _row(verdict: Verdict, found: Verification) -> Plain:
    return {
        "id": verdict.row.id,
        "title": verdict.row.title,
        "expected": "works" if verdict.row.allowed else "kept out",
        "origin": verdict.row.origin,
        "status": verdict.status.value,
        "weight": verdict.row.weight,
        "evidence": list(verdict.evidence),
        "attempts": verdict.attempts,
        "repeat": repeat(verdict, found),
    }


def json_text(found: Verification) -> str:
    return json.dumps(plain(found), indent=2) + "\n"


def junit_text(found: Verification) -> str:
    """Return JUnit XML with one case for each row.

    A row that is not as expected is a failure; an untested row is skipped.
    """
    suite = ET.Element("testsuite", name="boxspec verify", timestamp=found.started)
    for each in found.verdicts:
        case = ET.SubElement(suite, "testcase", classname="verify", name=one_line(each.row.id))
        text = one_line("; ".join(each.evidence))
        if each.status.value in BAD:
            failure = ET.SubElement(case, "failure", message=text, type=each.status.value)
            failure.text = one_line(repeat(each, found))
        elif each.status is Status.NOT_TESTED:
            ET.SubElement(case, "skipped", message=text)
    suite.set("tests", str(len(found.verdicts)))
    suite.set("failures", str(sum(each.status.value in BAD for each in found.verdicts)))
    suite.set("skipped", str(found.count(Status.NOT_TESTED)))
    suite.set("time", f"{found.seconds:.3f}")
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def markdown_text(found: Verification) -> str:
    lines = ["| | expectation | evidence |", "|---|---|---|"]
    for each in found.verdicts:
        cells = (each.status.value, each.row.title, "; ".join(each.evidence))
        shown = (one_line(cell).replace("|", "\\|").replace("<", "&lt;") for cell in cells)
        lines.append(f"| {' | '.join(shown)} |")
    return "\n".join([*lines, "", closing(found), ""])


LEVELS = {
    Status.LEAKED: sarif.ERROR,
    Status.BLOCKED: sarif.WARNING,
    Status.NOT_TESTED: sarif.NOTE,
}


def sarif_text(found: Verification) -> str:
    """Return SARIF with one rule for each row, and a finding for each row that is not as
    expected."""
    findings = [
        sarif.Finding(
            each.row.id,
            LEVELS[each.status],
            f"{each.status.value}: {'; '.join(each.evidence)}",
            place_of(each.row.origin),
            repeat(each, found),
        )
        for each in found.verdicts
        if each.status in LEVELS
    ]
    rules = {each.row.id: each.row.title for each in found.verdicts}
    return sarif.text(rules, findings, found.started, found.exit_status)


def place_of(origin: str) -> tuple[str, int] | None:
    """Return the file and line of an expectation, or None for an option or a default row."""
    name, _, line = origin.rpartition(":")
    return (quote(name), max(1, int(line))) if name and line.isdigit() else None


def read(path: Path) -> Plain:
    """Return the status of each row in a file that --json wrote."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if raw["schema"] != SCHEMA:
            raise KeyError("schema")
        statuses = {row["id"]: row["status"] for row in raw["rows"]}
    except OSError as why:
        raise UsageError(str(path), f"cannot be read: {why.strerror}", "name a file") from None
    except (ValueError, KeyError, TypeError):
        problem = f"is not what `verify --json` wrote ({SCHEMA})"
        raise UsageError(str(path), problem, "name such a file") from None
    return statuses


def compare(old: Plain, found: Verification) -> list[str]:
    """Return a line for each row whose status has changed. Rows that are open now come first."""
    new = {each.row.id: each.status.value for each in found.verdicts}
    opened, closed, other = [], [], []
    for name in dict.fromkeys([*new, *old]):
        before, after = old.get(name, "not asked"), new.get(name, "not asked")
        if before == after:
            continue
        line = f"{name}: {before}, now {after}"
        if after in BAD and before not in BAD:
            opened.append(f"opened   {line}")
        elif before in BAD and after == Status.HELD.value:
            closed.append(f"closed   {line}")
        else:
            other.append(f"changed  {line}")
    return [*opened, *closed, *other] or ["no row has another status than before"]
