"""Write a baseline as TOML, in the form that `judge.baseline` reads."""

from __future__ import annotations

from collections.abc import Iterable

import tomli_w

from boxspec.judge.baseline import BaselineEntry

HEAD = (
    "# Known deviations, for --known. Written by boxspec baseline; issue, until and flaky are"
    " yours.\n"
)


def render(entries: Iterable[BaselineEntry]) -> str:
    tables = [_table(each) for each in dict.fromkeys(entries)]
    return f"{HEAD}\n{tomli_w.dumps({'known': tables})}" if tables else HEAD


def _table(entry: BaselineEntry) -> dict[str, object]:
    table: dict[str, object] = {"requirement": entry.requirement}
    if entry.test:
        table["test"] = entry.test
    table |= {"verdict": str(entry.verdict), "why": entry.why}
    if entry.issue:
        table["issue"] = entry.issue
    if entry.until is not None:
        table["until"] = entry.until
    if entry.flaky:
        table["flaky"] = True
    return table
