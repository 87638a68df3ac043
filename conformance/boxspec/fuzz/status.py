"""Format the status line of a run, and its last line."""

from __future__ import annotations

from boxspec.fuzz.engine import Progress
from boxspec.plural import many


def count(number: float) -> str:
    """Format a number for people: `950`, `12.3 k`, `4.5 M`."""
    for unit, name in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= unit:
            return f"{number / unit:.3g}{name}"
    return f"{number:.0f}"


def live(name: str, engine: str, spent: float, of: float, now: Progress, findings: int) -> str:
    return (
        f"{name} · {many(findings, 'finding')} · {spent:.0f} of {of:.0f} s · {engine} ·"
        f" {count(now.runs)} runs, {count(now.per_second)}/s · {now.inputs} inputs"
    )


def _edges(now: Progress) -> str:
    if now.edges is None:
        return ""
    of = f" of {now.of_edges}" if now.of_edges else ""
    return f" · {now.edges}{of} edges"


def closing(
    name: str, engine: str, spent: float, now: Progress, findings: int, cpu_s: float
) -> str:
    """Return the last line of a run.

    It contains the executions per CPU second, because this rate does not depend on the load.
    """
    rate, by_cpu = (count(now.runs / each) if each > 0 else "0" for each in (spent, cpu_s))
    return (
        f"{name} · {engine} · {spent:.1f} s · {count(now.runs)} runs, {rate}/s, {by_cpu}/CPU s"
        f" · {now.inputs} inputs{_edges(now)} · {many(findings, 'finding')}"
    )
