"""Show the matrix of sandboxes as Markdown, and as a summary on the console."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from boxspec.printable import one_line
from boxspec.report.formats.markdown import table, text
from contracts.backend.products import releases
from contracts.backend.products.cells import GIVES_THE_HOST, Cell, Column, State

ORDER = (
    *("fs-write", "fs-metadata", "fs-read", "network", "process", "ipc", "kernel", "launch"),
    *("rules", "works inside"),
)
SIGNS = {
    State.HELD: "·",
    State.ESCAPED: "**E**",
    State.DONE: "D",
    State.UNCLAIMED: "e",
    State.OVERREFUSED: "R",
    State.FAILS: "F",
    State.UNPROVEN: "?",
    State.NOT_MEASURED: "-",
    State.NOT_ASKED: " ",
    State.NO_EVIDENCE: "0",
}
LEGEND = (
    "· held · **E** claimed, and an observer outside saw the effect · D claimed, and the call"
    " succeeded inside · e an effect, not claimed · R over-refused · F another failure · ? unproven"
    " · - not measured on this host · empty: not asked · 0 held without a sandbox too: it"
    " counts for no product. Launch needs no claim: the contract asks it"
    " of every sandbox."
)
# The largest number of attempts of one kind that a summary names.
MOST_SHOWN = 8
DETAILED = (State.ESCAPED, State.DONE, State.OVERREFUSED, State.FAILS, State.UNPROVEN)


def render(command: str, facts: Mapping[str, Any], columns: Sequence[Column]) -> str:
    return "\n".join(_lines(command, facts, columns)) + "\n"


def _lines(command: str, facts: Mapping[str, Any], columns: Sequence[Column]) -> Iterator[str]:
    yield "# Sandboxes by observed effects"
    yield ""
    yield f"    {command}"
    yield ""
    yield ", ".join(f"{name} {value}" for name, value in facts.items())
    yield ""
    yield "A cell is what the kit observed: reproduce it by hand before you report it to others."
    yield ""
    yield from _table(
        ["backend", "version", "mechanism", "role", "what is missing"],
        (
            [
                each.name,
                each.version,
                each.mechanism,
                "control, must fail" if each.control else "",
                each.why,
            ]
            for each in columns
        ),
    )
    gives = [each for each in columns if _worst(each)]
    if gives:
        yield "## Attempts that gave control of the host"
        yield ""
        yield from _table(["backend", "attempts"], ([each.name, _worst(each)] for each in gives))
    if found := [*releases.changes(columns)]:
        yield "## Changes from one release to the next"
        yield ""
        yield from (f"* {text(each)}" for each in found)
        yield ""
    yield "## By aspect: the claim, and the attempts by result"
    yield ""
    asked = [each for each in columns if each.cells]
    heads = ["aspect", *(each.name for each in asked)]
    yield from _table(
        heads, ([aspect, *(_sum(each, aspect) for each in asked)] for aspect in ORDER)
    )
    yield "## By probe"
    yield ""
    yield LEGEND
    yield ""
    yield from _table(["aspect", "probe", *heads[1:]], _probes(asked))
    for each in asked:
        yield from _details(each)


def _sum(column: Column, aspect: str) -> str:
    found = Counter(each.state for each in column.cells if each.aspect == aspect)
    parts = ", ".join(f"{found[state]} {state}" for state in State if found[state])
    claim = column.claim(aspect)
    if claim == "-":
        return parts
    if not column.asked(aspect):
        return f"claimed {claim}, not asked" + (f" ({parts})" if parts else "")
    return f"{claim}: {parts}"


def _probes(columns: Sequence[Column]) -> Iterator[list[str]]:
    by_test = [{each.test: each for each in column.cells} for column in columns]
    every: dict[str, Cell] = {}
    for cells in by_test:
        for test, each in cells.items():
            every.setdefault(test, each)
    for each in sorted(every.values(), key=_key):
        row = [cells[each.test].state if each.test in cells else None for cells in by_test]
        yield [each.aspect, each.probe, *(SIGNS[state] if state else " " for state in row)]


def _key(each: Cell) -> tuple[int, str, str]:
    place = ORDER.index(each.aspect) if each.aspect in ORDER else len(ORDER)
    return (place, each.probe, each.test)


def _details(column: Column) -> Iterator[str]:
    yield f"## {column.name}"
    yield ""
    for state in DETAILED:
        for each in column.cells:
            if each.state is state:
                yield f"* {state}, {each.requirement}, {each.probe}: {one_line(each.saw)}"
                yield ""
                yield f"      {each.repro}"
                yield ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield from table(head, [*rows])
    yield ""


def _worst(column: Column) -> str:
    """Name the attempts that gave control over the host.

    A backend with one of these attempts is bad, even if many other attempts were held.
    """
    found = [each for each in column.cells if each.gives_the_host]
    # Attempts on the kernel are named before writes to single files.
    found.sort(key=lambda each: each.probe not in GIVES_THE_HOST)
    shown = ", ".join(f"{each.probe} ({each.state})" for each in found[:MOST_SHOWN])
    more = f" and {len(found) - MOST_SHOWN} more" if len(found) > MOST_SHOWN else ""
    return f"CONTROL OF THE HOST: {shown}{more}" if found else ""


def summary(columns: Sequence[Column]) -> Iterator[str]:
    """Return one line for each backend, then the differences between versions of one product.

    Attempts that gave control over the host come first.
    """
    for each in columns:
        found = Counter(cell.state for cell in each.cells)
        parts = ", ".join(f"{found[state]} {state}" for state in State if found[state])
        role = " (a control, must fail)" if each.control else ""
        line = "; ".join(word for word in (_worst(each), parts, each.why) if word)
        yield f"{each.name:28}{role} {line}"
    yield from releases.changes(columns)
