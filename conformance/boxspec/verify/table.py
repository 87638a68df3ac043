"""The table of a verification, for people: leaks first, one line for each held row."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from boxspec.places import command_from
from boxspec.terminal import Terminal
from boxspec.verify.result import Verdict, Verification
from boxspec.verify.row import Status

COLOURS = {Status.LEAKED: "31", Status.BLOCKED: "33", Status.NOT_TESTED: "33", Status.HELD: ""}
EVIDENCE_MOST = 3
WIDTH = 34
# So many rows with one reason are shown as one.
ALIKE = 3


def print_table(found: Verification, terminal: Terminal, verbose: bool) -> None:
    """One line for each row; those that are not held have their evidence and a command too."""
    words = one_word(shlex.join(found.command), 60)
    counts = f"{len(found.verdicts)} rows, {found.starts} starts, {found.seconds:.1f} s"
    terminal.write(f"boxspec verify -- {words}   ({counts})")
    alike = {} if verbose else _alike(found.verdicts)
    for each in found.verdicts:
        if each.row.id not in alike:
            terminal.write(_line(each), COLOURS[each.status])
            for line in details(each, found.command, verbose):
                terminal.write(f"    {line}")
        elif alike[each.row.id]:
            terminal.block(alike[each.row.id], COLOURS[each.status])
    terminal.write(closing(found))


def _alike(verdicts: Sequence[Verdict]) -> dict[str, list[str]]:
    """One line for all rows that were not tested for one reason, under the first of them."""
    found: dict[str, list[str]] = {}
    missing = [each for each in verdicts if each.status is Status.NOT_TESTED]
    for reason in dict.fromkeys(each.evidence for each in missing):
        rows = [each.row.id for each in missing if each.evidence == reason]
        if len(rows) >= ALIKE:
            first = f"{Status.NOT_TESTED.value:<16}  {'; '.join(reason)}"
            shown = [first, f"    {len(rows)} rows: {', '.join(rows)}"]
            found |= {name: [] for name in rows} | {rows[0]: shown}
    return found


def _line(verdict: Verdict) -> str:
    origin = "" if verdict.row.origin == "default" else f"  {verdict.row.origin}"
    shown = one_word(verdict.row.title, WIDTH)
    first = verdict.evidence[0] if verdict.evidence else ""
    status = f"{verdict.status.value:<16}"
    return f"{status}  {shown:<{WIDTH}}  {first}{origin}".rstrip()


def details(verdict: Verdict, command: Iterable[str], verbose: bool) -> list[str]:
    """The rest of the evidence, and the command that asks this row again."""
    more = list(verdict.evidence[1:])
    if verbose:
        return [*more, f"again: {repeat(verdict, command)}"]
    if verdict.status not in (Status.LEAKED, Status.BLOCKED):
        return []
    lines = more[: EVIDENCE_MOST - 1]
    if len(more) > len(lines):
        lines.append(f"and {len(more) - len(lines)} more (-v)")
    return [*lines, f"again: {repeat(verdict, command)}"]


def repeat(verdict: Verdict, command: Iterable[str]) -> str:
    """The command that asks one row again, for a shell in the working directory."""
    words = [command_from(Path.cwd()), "verify"]
    return f"{' '.join(words)} {shlex.join([*verdict.row.repeat, '--', *command])}"


def closing(found: Verification) -> str:
    parts = [f"{found.count(status)} {status.value}" for status in Status]
    return f"{' · '.join(parts)} · exit status {found.exit_status}"


def one_word(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
