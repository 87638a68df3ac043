"""One verification: the rows, the starts, the verdicts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime

from boxspec.verify.command import Command
from boxspec.verify.janitor import Janitor
from boxspec.verify.judging import verdicts
from boxspec.verify.outcome import Both, Outcome
from boxspec.verify.result import Verification
from boxspec.verify.row import Row
from boxspec.verify.starts import Starter, at_terminal, by_probes, by_shell


def verify(
    command: Command, rows: Sequence[Row], furniture: Sequence[Row], limit_s: float
) -> Verification:
    """Check these rows of a command. All files of the run are removed, however it ends.

    furniture: further rows with decoys for each scene.
    """
    started, before = datetime.now(UTC), time.monotonic()
    with Janitor() as janitor:
        every = [*rows, *(row for row in furniture if row not in rows)]
        control = Starter(janitor, None, limit_s, every)
        inside = Starter(janitor, command, limit_s, every)
        asked = [row for row in rows if not row.cannot]
        plain = [row for row in asked if not row.terminal]
        typed = [row for row in asked if row.terminal]
        probes = Both(by_probes(control, plain), by_probes(inside, plain))
        absent = Both(Outcome(), Outcome())
        if probes.inside.hangs:
            # It would hang in each further start too.
            shell = terminal = Both(Outcome(), probes.inside)
        else:
            shell = Both(by_shell(control, plain), by_shell(inside, plain))
            terminal = probes
            elsewhere = [row for row in plain if row.absent]
            if elsewhere:
                absent = Both(
                    by_probes(control, elsewhere, absent=True),
                    by_probes(inside, elsewhere, absent=True),
                )
            if typed:
                terminal = Both(at_terminal(control, typed), at_terminal(inside, typed))
        chosen = {row.id: terminal if row.terminal else probes for row in rows}
        found = verdicts(rows, chosen, shell, absent)
    seconds = time.monotonic() - before
    words, when = tuple(command.words), started.strftime("%Y-%m-%dT%H:%M:%SZ")
    return Verification(words, when, seconds, inside.starts, tuple(found))
