"""The table of a run: how many requirements of each contract conform, out of how many."""

from __future__ import annotations

from rich.table import Table

from boxspec.judge.requirements import KINDS
from boxspec.judge.results import JudgedRequirement, ResultTree
from boxspec.judge.verdict import BROKEN, Verdict
from boxspec.report.console import Console

# The width of all columns except the last one, which contains the remarks.
FIXED_COLUMNS = 52


def print_table(console: Console, tree: ResultTree) -> None:
    """Print one row per contract.

    A row shows the conforming and the asked requirements of each kind, and the number of undecided
    ones. Remarks that do not fit into the row follow the table.
    """
    remarks = {name: remark(tree, name) for name in tree.contracts}
    fits = FIXED_COLUMNS + max(map(len, remarks.values()), default=0) <= console.columns
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("contract", no_wrap=True)
    for kind in KINDS:
        table.add_column(kind, justify="right", no_wrap=True)
    if fits:
        table.add_column("", no_wrap=True)
    for name in tree.contracts:
        cells = [fraction(*tree.of_kind(kind, name)) for kind in KINDS]
        table.add_row(name, *cells, *[remarks[name]] * fits)
    console.table(table)
    if not fits:
        for name, text in remarks.items():
            if text:
                console.wrap(f"{name}: {text}", indent="  ")
    for name, (chosen, others) in tree.chosen.items():
        if name in tree.contracts:
            rest = f"; --backend NAME for another: {', '.join(others)}" if others else ""
            console.wrap(f"{name}: {chosen}, the strongest that starts here{rest}", indent="  ")


def fraction(conforming: int, asked: int) -> str:
    return f"{conforming}/{asked}" if asked else "-"


def remark(tree: ResultTree, contract: str) -> str:
    """Return a text such as `8 blocked · 3 not tested · 34 not declared`."""
    mine = [each for each in tree.judged if each.requirement.contract == contract]
    counts = {
        "known": sum(each.known and each.verdict in BROKEN for each in mine),
        "blocked": sum(bool(each.blocked_by) for each in mine),
        "not tested": len(not_tested(mine)),
        "not claimed": sum(_escaped_as_declared(each) for each in mine),
        "not declared": sum(bool(each.missing) for each in mine),
    }
    undecided = sum(each.verdict is Verdict.NOT_APPLICABLE for each in mine)
    rest = undecided - counts["not claimed"] - counts["not declared"]
    counts["not applicable"] = max(rest, 0)
    return " · ".join(f"{count} {name}" for name, count in counts.items() if count)


def not_tested(judged: list[JudgedRequirement]) -> list[JudgedRequirement]:
    """Return the requirements that were not measured, except blocked ones."""
    return [each for each in judged if each.verdict is Verdict.NOT_MEASURED and not each.blocked_by]


def _escaped_as_declared(each: JudgedRequirement) -> bool:
    return each.verdict is Verdict.NOT_APPLICABLE and any(made.escaped for made in each.records)
