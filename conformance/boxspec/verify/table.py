"""The table of a verification, for people: leaks come first, and held default rows share lines."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from boxspec.places import command_from
from boxspec.plural import many
from boxspec.terminal import Terminal
from boxspec.verify.result import Verdict, Verification
from boxspec.verify.row import Status

WORDS = {
    Status.LEAKED: "LEAKED",
    Status.BLOCKED: "BLOCKED",
    Status.NOT_TESTED: "not tested",
    Status.HELD: "held",
}
WORKS = "works"
COLOURS = {Status.LEAKED: "31", Status.BLOCKED: "33", Status.NOT_TESTED: "33", Status.HELD: ""}
WIDTH, ORIGIN_WIDTH = 34, 16
# If at least this many rows have the same reason, one line shows all of them.
ALIKE = 3


def print_table(found: Verification, terminal: Terminal, verbose: bool) -> None:
    """Print one line for each row. Held default rows of one family share a line.

    verbose: True to print each row with its evidence and the command that tests it again.
    """
    words = found.product or one_word(shlex.join(found.command), 60)
    starts = many(found.starts, "start")
    terminal.write(f"boxspec verify · {words} · {starts} in {found.seconds:.1f} s")
    terminal.write()
    together = {} if verbose else _alike(found.verdicts) | _families(found.verdicts)
    for each in found.verdicts:
        if each.row.id not in together:
            terminal.write(_line(each, verbose), COLOURS[each.status])
            for line in _details(each, found) if verbose else ():
                terminal.write(f"    {line}")
        elif together[each.row.id]:
            terminal.block(together[each.row.id], COLOURS[each.status])
    terminal.write()
    terminal.write(closing(found), "32" if not found.exit_status else "1")
    bad = [each for each in found.verdicts if each.status in (Status.LEAKED, Status.BLOCKED)]
    if bad and not verbose:
        terminal.write(f"repeat a row: {repeat(bad[0], found)}   (-v: each row, with all evidence)")


def _alike(verdicts: Sequence[Verdict]) -> dict[str, list[str]]:
    """Return the lines for rows that were not tested for the same reason, by the id of each row.

    The first of these rows gets the common line, the others get none.
    """
    found: dict[str, list[str]] = {}
    missing = [each for each in verdicts if each.status is Status.NOT_TESTED]
    for reason in dict.fromkeys(each.evidence for each in missing):
        rows = [each.row.id for each in missing if each.evidence == reason]
        if len(rows) >= ALIKE:
            first = f"{WORDS[Status.NOT_TESTED]:<10}  {'; '.join(reason)}"
            shown = [first, f"    {len(rows)} rows: {', '.join(rows)}"]
            found |= {name: [] for name in rows} | {rows[0]: shown}
    return found


def _families(verdicts: Sequence[Verdict]) -> dict[str, list[str]]:
    """Return the lines for held default rows of one family, by the id of each row.

    The first of these rows gets the common line, the others get none.
    """
    held = [each for each in verdicts if each.status is Status.HELD and each.row.family]
    found: dict[str, list[str]] = {}
    for family in dict.fromkeys(each.row.family for each in held):
        rows = [each for each in held if each.row.family == family]
        attempts = sum(each.attempts for each in rows)
        names = ", ".join(each.row.id for each in rows)
        count = many(attempts, "attempt")
        line = f"{WORDS[Status.HELD]:<10}  {family}: {names} ({count})"
        found |= {each.row.id: [] for each in rows} | {rows[0].row.id: [line]}
    return found


def _line(verdict: Verdict, verbose: bool) -> str:
    works = verdict.row.allowed and verdict.status is Status.HELD
    status = WORKS if works else WORDS[verdict.status]
    shown = one_word(verdict.row.title, WIDTH)
    origin = one_word("default row" if verdict.row.usual else verdict.row.origin, ORIGIN_WIDTH)
    first = verdict.evidence[0] if verdict.evidence else ""
    more = len(verdict.evidence) - 1
    count = f" (and {more} more)" if more > 0 and not verbose else ""
    return f"{status:<10}  {shown:<{WIDTH}}  {origin:<{ORIGIN_WIDTH}}  {first}{count}".rstrip()


def _details(verdict: Verdict, found: Verification) -> Iterable[str]:
    return [*verdict.evidence[1:], f"again: {repeat(verdict, found)}"]


def repeat(verdict: Verdict, found: Verification) -> str:
    """Return a shell command that tests one row again. It works in the current working
    directory."""
    words = ["verify", *found.flags, *verdict.row.repeat, "--", *found.command]
    return f"{command_from(Path.cwd())} {shlex.join(words)}"


def closing(found: Verification) -> str:
    """Return the last line: PASS, FAIL or OPEN, the counts and the exit status."""
    leaked = [each for each in found.verdicts if each.status is Status.LEAKED]
    own = [each for each in found.verdicts if not each.row.usual]
    parts = []
    if number := sum(not each.row.usual for each in leaked):
        parts.append(f"{number} of {_count(own, 'expectation')} leaked")
    if bad := [each for each in leaked if each.row.usual]:
        parts.append(f"{_count(bad, 'default row')} leaked")
    for status, words in ((Status.BLOCKED, "blocked too much"), (Status.NOT_TESTED, "not tested")):
        if number := found.count(status):
            parts.append(f"{number} {words}")
    if not parts:
        one = len(found.verdicts) == 1
        parts.append("1 row, as expected" if one else f"all {len(found.verdicts)} rows as expected")
    word = {0: "PASS", 1: "FAIL"}.get(found.exit_status, "OPEN")
    return f"{word}  {' · '.join(parts)} · exit {found.exit_status}"


def _count(rows: Sequence[Verdict], word: str) -> str:
    return many(len(rows), word)


def one_word(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
