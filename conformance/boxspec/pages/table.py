"""Make tables in Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def row(*cells: str) -> str:
    escaped = (cell.replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def table(head: Sequence[str], rows: Sequence[str]) -> list[str]:
    return [row(*head), "|" + "---|" * len(head), *rows]
