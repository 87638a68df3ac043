"""Print the summary of a run: failures, the table by contract, the verdict, and the next step."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from boxspec.folders import size
from boxspec.judge.record import Record
from boxspec.judge.repro import command, repro_command
from boxspec.judge.requirements import KINDS
from boxspec.judge.results import JudgedRequirement, ResultTree
from boxspec.judge.verdict import BROKEN, Verdict
from boxspec.places import COMMAND
from boxspec.plural import many
from boxspec.report.area_table import has_areas, print_areas
from boxspec.report.block import block_lines
from boxspec.report.console import GREEN, RED, YELLOW, Console
from boxspec.report.contract_table import not_tested, print_table
from boxspec.report.details import print_details, print_full_blocks
from boxspec.report.failures import Failures

# A summary without -v should have at most this number of lines, so that it fits on a screen.
SCREEN = 25
# At most this number of failures are shown as a block.
BLOCKS = 3
# The lines of the verdict, of the next step, and of the empty line before them. If lines are
# narrow, the verdict needs two.
AT_THE_END, NARROW = 3, 100
# How many further groups of failures get one line, and how many ids of a group are named.
LINES, IDS = 8, 3
# The empty line and the heading before them.
HEADING = 2
# A further block leaves this number of lines to other groups, and to the number of the rest.
FEWEST = 4
# A reason is shown without -v only if it is not longer than this.
SHORT = 50
OTHER = "for other reasons"
# From this size on, the folders that are kept have a line.
LARGE_MIB = 10
# The first word of the verdict, by exit status.
WORDS = {0: "PASS", 1: "FAIL", 2: "NO VERDICT", 3: "INCOMPLETE", 4: "STALE BASELINE"}
STOPPED = "INTERRUPTED"


def print_summary(console: Console, tree: ResultTree, groups: Sequence[Failures]) -> None:
    """Print the summary up to the verdict."""
    console.judging(tree.hello, tree.argv, tree.how.shim is None)
    if not console.quiet:
        console.write(_tests(tree))
    if console.verbose:
        print_full_blocks(console, tree, groups)
    else:
        rest = console.count(lambda other: _print_rest(other, tree))
        end = AT_THE_END + (console.columns < NARROW)
        room = SCREEN - rest - end - (not console.quiet)
        shown, used = _print_blocks(console, tree, groups, room)
        _print_others(console, groups, shown, room - used)
    _print_rest(console, tree)


def _print_rest(console: Console, tree: ResultTree) -> None:
    """Print the table and the remarks, which follow the failures."""
    if console.quiet:
        return
    if not tree.asked:
        console.write()
        if has_areas(tree):
            print_areas(console, tree)
        print_table(console, tree)
    if console.verbose:
        print_details(console, tree)
    else:
        for line in _remarks(tree):
            console.wrap(line, indent="  ")
    for line in [*([tree.left] if tree.left else []), *tree.folders]:
        console.write(f"leftover  {line}")
    for line in tree.stale:
        console.write(f"stale baseline  {line}")


def _tests(tree: ResultTree) -> str:
    """Return a text such as `210 tests in 12 s · 3 fail · 2 late tests repeated`."""
    count = len(tree.records)
    text = f"{count} test{'s' * (count != 1)} in {tree.duration_s:.0f} s"
    broken = sum(record.verdict in BROKEN for record in tree.records)
    late = sum(record.late for record in tree.records)
    if broken:
        text += f" · {broken} fail{'s' * (broken == 1)}"
    if late:
        text += f" · {many(late, 'late test')} repeated"
    return text


def _print_blocks(
    console: Console, tree: ResultTree, groups: Sequence[Failures], room: int
) -> tuple[int, int]:
    """Print the first failures, and at least one. Return the number of their groups, and of their
    lines.

    room: the number of lines for all failures.
    """
    shown = set[str]()
    used = 0
    for number, group in enumerate(groups[:BLOCKS]):
        # Another symptom of a requirement that has a block is left to `repro` and -v.
        if group.first.id in shown:
            continue
        block = ["", *block_lines(console, tree, group)]
        others = len(groups[number + 1 :][:FEWEST])
        if shown and used + len(block) + (others and HEADING + others) > room:
            return number, used
        console.write()
        console.block(block[1:], RED)
        used += len(block)
        shown.add(group.first.id)
    return min(len(groups), BLOCKS), used


def _print_others(console: Console, groups: Sequence[Failures], blocks: int, room: int) -> None:
    """Print the failed requirements without a block, in groups that probably have the same cause.

    blocks: the number of groups that have a block.
    room: the number of lines for these groups.
    """
    named = {group.first.id for group in groups[:blocks]}
    lines: list[tuple[list[str], str]] = []
    for number, group in enumerate(groups):
        ids = [each.id for each in group.judged if each.id not in named]
        named.update(ids)
        if ids:
            why = f"as {group.first.id}" if number < blocks else group.record.what
            lines.append((ids, why))
    if not lines:
        return
    most = max(room - HEADING, 1)
    console.write()
    if len(lines) > most == 1:
        every = many(sum(len(ids) for ids, _ in lines), "requirement")
        console.wrap(f"also failed: {every}, probably for {len(lines)} causes (-v: in full)")
        return
    if len(lines) > min(most, LINES):
        most = min(most - 1, LINES)
    console.write("also failed, each line probably for one cause (-v: in full)")
    for ids, why in lines[:most]:
        more = f" and {len(ids) - IDS} more" if len(ids) > IDS else ""
        console.block(console.wrapped(f"{' '.join(ids[:IDS])}{more}  {why}", "     ", most=1))
    left = sum(len(ids) for ids, _ in lines[most:])
    if left:
        console.write(f"     … {left} more")


def _remarks(tree: ResultTree) -> Iterator[str]:
    """Yield one line for each kind of requirement or test without a verdict."""
    undecided = not_tested(tree.judged)
    if undecided:
        why = Counter(_short_reason(each) for each in undecided)
        parts = [f"{count} {reason}" for reason, count in why.most_common() if reason != OTHER]
        parts += [f"{why[OTHER]} {OTHER}"] * (OTHER in why)
        if len(why) == 1:
            parts = [*why]
        because = "" if [*why] == [OTHER] else f": {'; '.join(parts)}"
        yield f"{len(undecided)} not tested here (-v){because}"
    # If there is a table by area, these attempts are counted there.
    escaped = [] if has_areas(tree) else [each for each in tree.records if each.escaped]
    gaps = Counter(_gap(record) for record in escaped)
    for gap, count in gaps.most_common():
        yield f"not judged: {gap}; {many(count, 'attempt')} succeeded (-v)"
    changed = sum(any(made.changed for made in each.records) for each in tree.judged)
    if changed:
        yield f"{many(changed, 'requirement')} changed by the sandbox (-v)"
    kept = {each.folder for each in tree.records if each.folder}
    mib = sum(size(Path(folder)) for folder in kept) >> 20
    if mib >= LARGE_MIB:
        folders = many(len(kept), "folder")
        yield f"kept {folders} of failed tests, {mib} MiB: {COMMAND} clean --force removes them"


def _short_reason(judged: JudgedRequirement) -> str:
    if judged.lacks:
        return f"for lack of {judged.lacks}"
    # The reason of a requirement has N in place of each number.
    why = re.sub(r" for N m?s\b", "", judged.why)
    return f"because {why}" if len(why) <= SHORT else OTHER


def _gap(record: Record) -> str:
    """Return how the implementation declared the gap. Names of single rules are left out."""
    if record.declared == "partial":
        return f"{record.aspect} is claimed in part only"
    if record.declared == "unavailable":
        return f"{record.aspect} is not claimed"
    return f"rules declared {record.declared}"


def close(
    console: Console,
    tree: ResultTree,
    groups: Sequence[Failures],
    status: int,
    why_incomplete: str | None,
    interrupted: bool,
) -> None:
    """Print the verdict and the next step."""
    if not console.quiet:
        console.write()
    colour = RED if status == 1 else GREEN if status == 0 and not tree.failed else YELLOW
    word, words = verdict(tree, status, why_incomplete, interrupted)
    start = _start(groups[0]) if status == 1 else ""
    console.wrap(f"{word}  {words} · exit {status}{start}", colour=colour)
    if not interrupted and not console.quiet:
        console.write(f"next: {_next(console, tree, groups, status)}")


def verdict(
    tree: ResultTree, status: int, why_incomplete: str | None, interrupted: bool
) -> tuple[str, str]:
    """Return the meaning of the exit status for this run: a word, and the reason."""
    if interrupted:
        return STOPPED, "not all tests have ended"
    return WORDS[status], _reason(tree, status, why_incomplete)


def _reason(tree: ResultTree, status: int, why_incomplete: str | None) -> str:
    if status == 2:
        wrong = sum(record.verdict is Verdict.HARNESS_ERROR for record in tree.records)
        return f"internal error in {many(wrong, 'test')}"
    failing = tree.failed
    kinds = Counter(each.requirement.kind for each in failing)
    broken = ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS if kinds[kind])
    known = sum(each.known and each.verdict in BROKEN for each in tree.judged)
    excused = f" · {many(known, 'known deviation')}" if known else ""
    if tree.fail_fast and status == 1:
        return f"stopped at the first failure: {tree.broken[0].id}"
    if status == 1:
        return f"{broken} fail{'s' * (len(failing) == 1)}{excused}"
    if status == 3:
        return str(why_incomplete)
    conforming, asked = tree.of_kind("required")
    if not tree.asked and not asked and failing:
        text = "nothing required was tested"
    elif tree.asked or not asked:
        conforming = sum(each.verdict is Verdict.CONFORMS for each in tree.judged)
        text = f"{conforming} of {many(len(tree.judged), 'requirement')}"
    else:
        text = f"{conforming} of {asked} required"
    shard = " · part {} of {} of the tests".format(*tree.shard) if tree.shard else ""
    return f"{text}{f' · fails {broken}' if broken else ''}{excused}{shard}"


def _start(group: Failures) -> str:
    """Return a hint to begin with the first failure, if it blocks other requirements.

    The first failure affects the exit status, and blocks most others of those that do.
    """
    blocked = many(len(group.blocked), "other")
    return f" · start with {group.first.id}: it blocks {blocked}" if group.blocked else ""


def _next(console: Console, tree: ResultTree, groups: Sequence[Failures], status: int) -> str:
    if status == 0 and not tree.failed and tree.how.shim is None:
        page = command(["run", "--html", "report.html"])
        return f"{command(['new-shim', 'go', 'mine'])}   ·   {page}"
    if status == 1 or tree.failed:
        group = groups[0]
        how = tree.how_to_repeat(group.first.requirement.contract)
        explain = command(["explain", group.first.id])
        if tree.asked and console.verbose:
            return explain  # this was the command that repeats it
        return f"{explain}   ·   {repro_command(group.to_repeat, how)}"
    if tree.asked:
        return command(["run", *tree.how.words])
    return command(["run", *tree.how.words, "--html", "report.html"])
