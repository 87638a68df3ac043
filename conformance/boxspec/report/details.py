"""Print the parts that only -v shows.

These are all failures in full, and a line for each requirement that is undecided or has a remark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from boxspec.judge.failure_block import block_lines, shortened
from boxspec.judge.requirements import contract_of
from boxspec.judge.results import JudgedRequirement, ResultTree, why_not
from boxspec.judge.verdict import BROKEN, Verdict
from boxspec.report.console import RED, Console
from boxspec.report.failures import Failures, share

# If no test was run for more requirements than this, only their number is shown. After an interrupt
# there are hundreds.
LISTED = 5


def print_full_blocks(console: Console, tree: ResultTree, groups: Sequence[Failures]) -> None:
    for group in groups:
        judged = group.first
        how = tree.how_to_repeat(judged.requirement.contract)
        tests = share(judged) if len(judged.records) > 1 and judged.failing else ""
        console.write()
        lines = block_lines(group.record, how, judged.id, tests)
        console.block([shortened(line) for line in lines], RED)
        if group.judged[1:]:
            console.write(f"  same in   {' '.join(each.id for each in group.judged[1:])}")


def print_details(console: Console, tree: ResultTree) -> None:
    if tree.not_declared:
        console.write(f"not declared: {', '.join(tree.not_declared)}")
    for line in _undecided(tree):
        console.write(line)
    for judged in tree.judged:
        if judged.verdict is Verdict.CONFORMS:
            for line in _remarks(judged):
                console.write(f"conforms  {judged.id}: {line}")


def _remarks(judged: JudgedRequirement) -> Iterator[str]:
    """Yield the remarks of a requirement that conforms, and the reasons for tests that were not
    run."""
    remarks = [each for each in judged.records if each.reason and not each.changed]
    missing = Counter(each.reason for each in remarks if each.verdict is Verdict.NOT_APPLICABLE)
    for reason, count in missing.items():
        yield f"{count} of its {len(judged.records)} tests not run: {reason}"
    yield from dict.fromkeys(each.reason for each in remarks if each.reason not in missing)


def _undecided(tree: ResultTree) -> Iterator[str]:
    for judged in tree.judged:
        if judged.known and judged.verdict in BROKEN:
            yield f"known     {judged.id} {judged.verdict}: {judged.reason}"
    for judged in tree.judged:
        if judged.verdict is Verdict.NOT_MEASURED and judged.records and not judged.blocked_by:
            yield f"not tested  {judged.id}: {judged.reason}"
    yield from _not_run(tree)
    blocked: dict[tuple[str, ...], list[str]] = {}
    for judged in tree.judged:
        if judged.blocked_by:
            blocked.setdefault(tuple(judged.blocked_by), []).append(judged.id)
    for by, ids in blocked.items():
        yield f"blocked by {', '.join(by)}: {' '.join(ids)}"
    for judged in tree.judged:
        escaped = [each.escaped for each in judged.records if each.escaped]
        if escaped:
            yield f"not claimed, and escaped  {judged.id}: {'; '.join(escaped)}"
    for judged in tree.judged:
        for why in dict.fromkeys(each.changed for each in judged.records if each.changed):
            yield f"changed by the sandbox  {judged.id}: {why}"
    for missing, ids in tree.not_applicable().items():
        yield f"not applicable, {why_not(missing)}: {' '.join(ids)}"


def _not_run(tree: ResultTree) -> Iterator[str]:
    """Yield the requirements of which no test was run."""
    mine = [each for each in tree.judged if each.verdict is Verdict.NOT_MEASURED]
    mine = [each for each in mine if not each.records]
    if len(mine) <= LISTED:
        yield from (f"not tested  {each.id}: {each.reason}" for each in mine)
        return
    counts = Counter(contract_of(each.id) for each in mine)
    parts = " · ".join(f"{contract} {count}" for contract, count in counts.items())
    yield f"not tested, no test ran: {parts}"


def print_durations(console: Console, tree: ResultTree, number: int) -> None:
    """Print the slowest tests of a run with their durations."""
    slowest = sorted(tree.records, key=lambda each: -each.seconds)[:number]
    console.write()
    console.write(f"the {len(slowest)} slowest tests")
    for each in slowest:
        console.write(f"{each.seconds:7.2f} s  {each.id}")
