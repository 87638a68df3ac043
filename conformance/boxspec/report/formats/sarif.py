"""SARIF 2.1.0: the findings of any verb in a format for code scanning.

The format follows the OASIS standard "Static Analysis Results Interchange Format (SARIF) Version
2.1.0"; ../schemas/sarif.json describes the part that is used here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from boxspec import __version__
from boxspec.judge.repro import command
from boxspec.printable import one_line
from boxspec.report.result import Result, is_failure

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
ERROR, WARNING, NOTE = "error", "warning", "note"


@dataclass(frozen=True)
class Finding:
    """One finding.

    rule: the id of the rule that the finding breaks.
    place: a file and a line, if known.
    """

    rule: str
    level: str
    text: str
    place: tuple[str, int] | None = None
    repeat: str = ""


def text(
    rules: Mapping[str, str],
    findings: Iterable[Finding],
    started: str,
    status: int,
    help_text: Callable[[str], str] = lambda _: "",
) -> str:
    """Return the document.

    rules: the text of each rule, by its id.
    help_text: a function that returns the help of a rule; by default its text.
    """
    driver = {
        "name": "boxspec",
        "version": __version__,
        "rules": [
            {
                "id": one_line(name),
                "shortDescription": {"text": one_line(about) or one_line(name)},
                "help": {"text": help_text(name) or one_line(about) or one_line(name)},
            }
            for name, about in rules.items()
        ],
    }
    numbers = {name: number for number, name in enumerate(rules)}
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": True, "exitCode": status, "startTimeUtc": started}],
        "results": [_result(each, numbers) for each in findings],
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2) + "\n"


def _result(finding: Finding, numbers: Mapping[str, int]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "ruleId": one_line(finding.rule),
        "ruleIndex": numbers[finding.rule],
        "level": finding.level,
        "message": {"text": one_line(finding.text) or "no evidence"},
    }
    if finding.place is not None:
        name, line = finding.place
        physical = {"artifactLocation": {"uri": name}, "region": {"startLine": line}}
        made["locations"] = [{"physicalLocation": physical}]
    if finding.repeat:
        made["properties"] = {"repeat": one_line(finding.repeat)}
    return made


def render(result: Result) -> str:
    """Return the failures of a run as SARIF. The rule of each failure is a requirement."""
    rules = {name: str(each.get("clause", name)) for name, each in result.requirements.items()}
    findings = [
        Finding(name, ERROR, f"{test['id']}: {test['reason']}")
        for test in result.plain["tests"]
        if is_failure(test)
        for name in test["requirements"]
        if name in rules
    ]

    def help_text(name: str) -> str:
        return f"{one_line(rules[name])}\n\nMore: {command(['explain', name])}"

    return text(rules, findings, result.started, result.status, help_text)
