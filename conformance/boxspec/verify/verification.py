"""Run one verification: make the rows and the starts, and judge the results."""

from __future__ import annotations

import contextlib
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from boxspec.verify.arguments import ROW as ARGUMENTS
from boxspec.verify.command import Command
from boxspec.verify.host import repeated
from boxspec.verify.janitor import Janitor
from boxspec.verify.judging import unconfined, verdicts
from boxspec.verify.layout import Layout
from boxspec.verify.outcome import Both, Outcome
from boxspec.verify.planting import after_planting
from boxspec.verify.result import Verification
from boxspec.verify.row import Row
from boxspec.verify.scene import NOTHING_THERE
from boxspec.verify.starts import Starter, at_rest, at_terminal, by_probes, by_shell, by_themselves

# These programs print their version with --version.
PRINT_VERSION = frozenset(
    {"bwrap", "firejail", "nsjail", "srt", "codex", "sandlock", "nono", "hakoniwa", "birdcage"}
)
Asked = Callable[[Starter, Sequence[Row]], Outcome]


@dataclass
class Starts:
    """Makes each start of one run without the command and with it.

    hung: the outcome of the first start in which the command hung.
    """

    control: Starter
    inside: Starter
    hung: Outcome | None = None
    _adapted: bool = False

    def both(self, rows: Sequence[Row], asked: Asked) -> Both:
        """Test these rows without the command and with it."""
        if not rows:
            return Both(Outcome(), Outcome())
        # A command that hung once would hang in each further start too. But if the program ran
        # before the hang, one more start of the probe program may show leaks.
        if self.hung is not None and not (self.hung.ran and asked is by_probes):
            return Both(Outcome(), self.hung)
        found = Both(asked(self.control, rows), asked(self.inside, rows))
        outcome = found.inside
        # The first start of a program shows whether the command needs another manner.
        if asked is not by_shell and not self._adapted and not outcome.ran and not outcome.hangs:
            self._adapted = True
            if self.inside.adapt():
                found.inside = asked(self.inside, rows)
        self.hung = found.inside if found.inside.hangs else None
        return found


def product_of(words: Sequence[str]) -> str:
    """Return name and version of a known program, or ""."""
    name = Path(words[0]).name
    if name not in PRINT_VERSION:
        return ""
    try:
        done = subprocess.run(
            [words[0], "--version"], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return name
    version = re.search(r"\d+(\.\d+)+\S*", done.stdout)
    return f"{name} {version[0]}" if version else name


def _is_single(row: Row) -> bool:
    return row.terminal or row.idle or row.apart or row.planted


def _asked(row: Row) -> Asked:
    if row.planted:
        return after_planting
    return at_terminal if row.terminal else at_rest if row.idle else by_themselves


def at_rest_again(starts: Starts, row: Row) -> Both:
    """Test an idle row. Further starts confirm effects that other programs may have had."""
    ask = partial(starts.both, [row], at_rest)
    return repeated(ask(), ask)


@contextlib.contextmanager
def turned(starter: Starter) -> Iterator[None]:
    """Start the command with other variables of the environment for a while."""
    starter.turned = True
    try:
        yield
    finally:
        starter.turned = False


def carries(row: Row) -> bool:
    """True if the start of this row can have other variables too, so that it needs no start of its
    own."""
    return row.terminal or row.apart


def in_other_surroundings(
    starter: Starter,
    rows: Sequence[Row],
    witnesses: Sequence[Row],
    first: Outcome,
    carried: Outcome | None,
) -> Outcome:
    """Return the attempts of these rows with other variables. They are made only if the command
    confines nothing then.

    first: the outcome of the first start. If that one was not confined either, its result counts.
    carried: a start that had other variables; None if there is none.
    """
    if not first.ran or first.hangs or not witnesses:
        return Outcome()
    with turned(starter):
        found = carried or by_probes(starter, witnesses)
        return by_probes(starter, rows) if unconfined(witnesses, first, found) else Outcome()


def verify(
    command: Command,
    rows: Sequence[Row],
    furniture: Sequence[Row],
    limit_s: float,
    layout: Layout,
    witnesses: Sequence[Row] = (),
) -> Verification:
    """Check these rows of a command. All files of the run are removed in every case.

    witnesses: rows that get no verdict. They show whether the command confines a shell and each
        start.
    furniture: rows whose decoys are in each scene, too. In the user's real home directory the kit
        removes no path, and default rows about missing files are left out.
    """
    started, before = datetime.now(UTC), time.monotonic()
    every_start = list(witnesses)
    witnesses = [row for row in witnesses if row.id not in {each.id for each in rows}]
    with Janitor() as janitor:
        every = [*rows, *(row for row in furniture if row not in rows)]
        control = Starter(janitor, None, limit_s, every, layout)
        inside = Starter(janitor, command, limit_s, every, layout)
        asked = [row for row in rows if not row.cannot]
        single = [row for row in asked if _is_single(row)]
        plain = [row for row in asked if row not in single]
        plain += witnesses if asked else []
        starts = Starts(control, inside)
        # This start comes first: if an earlier start had left an object, the object would not be
        # new.
        idle = {row.id: at_rest_again(starts, row) for row in single if row.idle}
        probes = starts.both(plain, by_probes)
        elsewhere = [row for row in plain if row.absent and layout.home is None]
        elsewhere += every_start if elsewhere else []
        absent = starts.both(elsewhere, partial(by_probes, absent=True))
        shell = starts.both(plain, by_shell)
        again = None
        # Otherwise each start may have words by which a command recognises the test.
        only_words = ARGUMENTS in {row.id for row in plain} and not single
        if probes.inside.ran and not shell.inside.hangs and (not shell.inside.ran or only_words):
            again = by_probes(inside, every_start)
        chosen = {row.id: probes for row in [*rows, *witnesses]} | idle
        carried = None
        for row in (row for row in single if not row.idle):
            asked_too, ask = [row, *every_start], _asked(row)
            if carries(row) and carried is None and probes.inside.ran and not starts.hung:
                with turned(inside):
                    both = Both(ask(control, asked_too), ask(inside, asked_too))
                # A command may need one of the variables.
                if both.inside.ran and not both.inside.hangs:
                    chosen[row.id], carried = both, both.inside
                    continue
            chosen[row.id] = starts.both(asked_too, ask)
        others = in_other_surroundings(inside, plain, every_start, probes.inside, carried)
        found = verdicts(rows, chosen, shell, absent, every_start, again, others)
    found = [each for each in found if each.evidence != (NOTHING_THERE,) or not each.row.usual]
    seconds = time.monotonic() - before
    words, when = tuple(command.words), started.strftime("%Y-%m-%dT%H:%M:%SZ")
    flags, product = layout.flags, product_of(words)
    return Verification(words, when, seconds, inside.starts, tuple(found), flags, product)
