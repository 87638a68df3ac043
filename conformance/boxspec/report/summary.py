"""Print the summary of a run: failures, undecided requirements, the verdict and the fractions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from boxspec.judge.failure_block import block_lines
from boxspec.judge.repro import repro_command
from boxspec.judge.requirements import contract_of
from boxspec.judge.results import JudgedRequirement, ResultTree, why_not
from boxspec.judge.verdict import BROKEN, Verdict
from boxspec.printable import one_line
from boxspec.report.console import Console
from boxspec.report.failures import grouped, is_partial, share

# Number of failures shown in full. The result file and -v have all.
BLOCKS = 5
INTERRUPTED = "no verdict: interrupted; finished tests are above"
RED, YELLOW, BOLD = "1;31", "33", "1"


def print_summary(console: Console, tree: ResultTree) -> None:
    """Print everything that comes between the tests and the verdict."""
    implementation = tree.hello.get("implementation", {})
    language = f", {implementation['language']}" if implementation.get("language") else ""
    console.write(f"target    {tree.name}{language}")
    if tree.not_declared:
        console.write(f"not declared: {', '.join(tree.not_declared)}")
    _failures(console, tree)
    for line in _undecided(tree):
        console.write(line)
    for judged in tree.judged:
        if judged.verdict is Verdict.CONFORMS:
            for line in _remarks(judged):
                console.write(f"conforms  {judged.id}: {line}")
    if tree.left:
        console.write(f"leftover  {tree.left}")
    for line in tree.folders:
        console.write(f"leftover  {line}")
    for line in tree.stale:
        console.write(f"stale baseline  {line}")


def _remarks(judged: JudgedRequirement) -> Iterator[str]:
    """Yield the remarks of tests of a conforming requirement, and the reasons of tests that were
    not run."""
    remarks = [each for each in judged.records if each.reason and not each.changed]
    missing = Counter(each.reason for each in remarks if each.verdict is Verdict.NOT_APPLICABLE)
    for reason, count in missing.items():
        yield f"{count} of its {len(judged.records)} tests not run: {reason}"
    yield from dict.fromkeys(each.reason for each in remarks if each.reason not in missing)


def _failures(console: Console, tree: ResultTree) -> None:
    groups = grouped(tree)
    full = len(groups) if console.verbose else BLOCKS
    for group in groups[:full]:
        judged = group.first
        tests = share(judged) if len(judged.records) > 1 and judged.failing else ""
        console.write()
        console.block(block_lines(group.record, tree.how, judged.id, tests), RED)
        if group.judged[1:]:
            console.write(f"  same in   {' '.join(each.id for each in group.judged[1:])}")
    if groups[full:]:
        console.write()
        console.write(f"{len(groups) - full} further failures, one line each (-v: in full)")
        for group in groups[full:]:
            console.write(f"  {group.line()}")
    failed = [each for each in tree.judged if each.verdict in BROKEN and not each.known]
    if groups:
        console.write()
    if failed:
        console.write(f"failed {len(failed)}: {' '.join(each.id for each in failed)}")
    if len(failed) > 1:
        console.write(f"rerun     {repro_command([], tree.how)} ID...")
    partly = [each for each in failed if is_partial(each)]
    if partly:
        parts = (f"{each.id} ({share(each)})" for each in partly)
        console.write(f"partly    {' · '.join(parts)}")


def _undecided(tree: ResultTree) -> Iterator[str]:
    for judged in tree.judged:
        if judged.known and judged.verdict in BROKEN:
            yield f"known     {judged.id} {judged.verdict}: {judged.reason}"
    blocked: dict[tuple[str, ...], list[JudgedRequirement]] = {}
    for judged in tree.judged:
        if judged.blocked_by:
            blocked.setdefault(tuple(judged.blocked_by), []).append(judged)
        elif judged.verdict is Verdict.NOT_MEASURED and judged.records:
            yield f"not measured  {judged.id}: {judged.reason}"
    yield from _not_run(tree)
    for by, mine in blocked.items():
        yield f"blocked by {', '.join(by)}: {' '.join(each.id for each in mine)}"
    if tree.how.backend is None and any(each.escaped for each in tree.records):
        names = one_line(", ".join(tree.hello.get("backends", {})))
        yield f"backend   the shim's first that confines; --backend NAME for another of {names}"
    for judged in tree.judged:
        escaped = [each.escaped for each in judged.records if each.escaped]
        if escaped:
            yield f"escaped as declared  {judged.id}: {'; '.join(escaped)}"
    for judged in tree.judged:
        for why in dict.fromkeys(each.changed for each in judged.records if each.changed):
            yield f"changed by the sandbox  {judged.id}: {why}"
    for missing, ids in tree.not_applicable().items():
        yield f"not applicable, {why_not(missing)}: {' '.join(ids)}"


def _not_run(tree: ResultTree) -> Iterator[str]:
    """Yield the requirements of which no test was run.

    An interrupted run has hundreds, so only their number is given.
    """
    mine = [each for each in tree.judged if each.verdict is Verdict.NOT_MEASURED]
    mine = [each for each in mine if not each.records]
    if len(mine) <= BLOCKS:
        yield from (f"not measured  {each.id}: {each.reason}" for each in mine)
        return
    counts = Counter(contract_of(each.id) for each in mine)
    parts = " · ".join(f"{contract} {count}" for contract, count in counts.items())
    yield f"not measured, no test ran: {parts}"


def close(console: Console, tree: ResultTree, verdict: str, status: int) -> None:
    """Print the verdict in words, and the last line with the fractions."""
    console.write()
    if len(tree.contracts) > 1:
        for contract in tree.contracts:
            console.write(f"{contract:<9} {' · '.join(fractions(tree, contract))}")
    colour = "" if status == 0 else RED if status == 1 else YELLOW
    console.write(verdict, colour)
    console.write(denominators(tree), BOLD)


def verdict(tree: ResultTree, status: int, why_incomplete: str | None) -> str:
    """Return the meaning of the exit status for this run."""
    if status == 1:
        ids = [each.id for each in tree.broken]
        if tree.asked:
            return f"does not conform: {' '.join(ids)}"
        what = "contract MUST" if tree.profile in (None, "contract") else "MUST"
        return f"does not conform: breaks {len(ids)} {what}{'s' if len(ids) > 1 else ''}"
    if status == 2:
        wrong = sum(record.verdict is Verdict.HARNESS_ERROR for record in tree.records)
        return f"no verdict: internal error in {wrong} test{'s' if wrong > 1 else ''}"
    if status == 3:
        return f"incomplete: {why_incomplete}"
    failing = sum(each.verdict in BROKEN and not each.known for each in tree.judged)
    is_part = tree.asked or tree.narrowed
    conforms = "conforms" if is_part and not failing else "conforms to each contract MUST"
    if failing:
        conforms += f", and fails {failing} other requirement{'s' if failing > 1 else ''}"
    excused = sum(each.known and each.verdict in BROKEN for each in tree.judged)
    if excused:
        conforms += f" except for {excused} known deviation{'s' if excused > 1 else ''}"
    if status == 4:
        return f"{conforms}, and the baseline is stale"
    return conforms


def fractions(tree: ResultTree, contract: str | None = None) -> list[str]:
    """Return texts such as `contract MUST 114/121 SHOULD 31/34`, one for each profile, for one
    contract or for all."""
    parts = []
    for profile in ("contract", "hardened"):
        shown = []
        for level in ("MUST", "SHOULD", "MAY"):
            conforms, of = tree.of(profile, level, contract)
            if of or level == "MUST":
                shown.append(f"{level} {conforms}/{of}")
        parts.append(f"{profile} {' '.join(shown)}")
    return parts


def denominators(tree: ResultTree) -> str:
    parts = fractions(tree)
    parts.append(f"not measured {tree.count(Verdict.NOT_MEASURED)}")
    parts.append(f"not applicable {tree.count(Verdict.NOT_APPLICABLE)}")
    parts.append(f"known {tree.known}")
    if tree.late:
        parts.append(f"late {tree.late}")
    return " · ".join(parts)
