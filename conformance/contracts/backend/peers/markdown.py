"""A matrix for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from boxspec.printable import one_line
from contracts.backend.peers.cells import Cell, State
from contracts.backend.peers.judged import Column

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
}
LEGEND = (
    "· held · **E** claimed, and seen to happen from outside · D claimed, and the call went through"
    " inside · e happened, not claimed · R over-refused · F another failure · ? unproven ·"
    " - not measured on this host · empty: not asked. Of launch nobody makes a claim: the contract"
    " asks it of every sandbox."
)
TOLD = (State.ESCAPED, State.DONE, State.OVERREFUSED, State.FAILS, State.UNPROVEN)


def render(facts: Mapping[str, Any], columns: Sequence[Column]) -> str:
    return "\n".join(_lines(facts, columns)) + "\n"


def _lines(facts: Mapping[str, Any], columns: Sequence[Column]) -> Iterator[str]:
    yield "# Backends by what really happens"
    yield ""
    yield ", ".join(f"{name} {value}" for name, value in facts.items())
    yield ""
    yield "What the kit saw, and no more: reproduce a cell by hand before anybody is told."
    yield ""
    yield from _table(
        ["backend", "version", "mechanism", "role", "what is missing"],
        (
            [
                each.candidate.label,
                each.version,
                each.mechanism,
                "control, must fail" if each.candidate.control else "",
                each.why,
            ]
            for each in columns
        ),
    )
    yield "## By aspect: claim, and how many attempts came to what"
    yield ""
    asked = [each for each in columns if each.cells]
    heads = ["aspect", *(each.candidate.label for each in asked)]
    yield from _table(
        heads, ([aspect, *(_sum(each, aspect) for each in asked)] for aspect in ORDER)
    )
    yield "## By probe"
    yield ""
    yield LEGEND
    yield ""
    yield from _table(["aspect", "probe", *heads[1:]], _probes(asked))
    for each in asked:
        yield from _told(each)


def _sum(column: Column, aspect: str) -> str:
    found = Counter(each.state for each in column.cells if each.aspect == aspect)
    said = ", ".join(f"{found[state]} {state}" for state in State if found[state])
    claim = column.claim(aspect)
    return f"{claim}: {said}" if claim != "-" else said


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


def _told(column: Column) -> Iterator[str]:
    yield f"## {column.candidate.label}"
    yield ""
    for state in TOLD:
        for each in column.cells:
            if each.state is state:
                yield f"* {state}, {each.requirement}, {each.probe}: {one_line(each.saw)}"
                yield ""
                yield f"      {each.repro}"
                yield ""


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield _row(heads)
    yield _row(["---"] * len(heads))
    for row in rows:
        yield _row(row)
    yield ""


def _row(words: Sequence[str]) -> str:
    told = (one_line(word).replace("|", "\\|") for word in words)
    return f"| {' | '.join(told)} |"


def summary(columns: Sequence[Column]) -> Iterator[str]:
    """One line a backend, for the console."""
    for each in columns:
        found = Counter(cell.state for cell in each.cells)
        said = ", ".join(f"{found[state]} {state}" for state in State if found[state])
        role = " (a control, must fail)" if each.candidate.control else ""
        told = "; ".join(word for word in (said, each.why) if word)
        yield f"{each.candidate.label:28}{role} {told}"
