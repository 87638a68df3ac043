"""The table of a run that judges one contract with areas: its attempts by area and result."""

from __future__ import annotations

from rich.table import Table

from boxspec.judge.results import ResultTree
from boxspec.plural import many
from boxspec.report.console import Console
from boxspec.subject.contract import find


def has_areas(tree: ResultTree) -> bool:
    """True if the run judges only one contract, as a whole, and the contract has areas."""
    return len(tree.contracts) == 1 and not tree.asked and bool(find(tree.contracts[0]).areas)


def print_areas(console: Console, tree: ResultTree) -> None:
    (name,) = tree.contracts
    head, *rows = find(name).area_rows(tree.records, tree.claims.get(name, {}))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for number, title in enumerate(head):
        table.add_column(title, justify="left" if number < 2 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console.table(table)
    gaps = sum(bool(record.escaped) for record in tree.records)
    if gaps:
        console.wrap(
            f"not judged: {many(gaps, 'attempt')} that no claim covers succeeded (-v);"
            " tell your users",
            indent="  ",
        )
    console.write()
