"""Print results as a run does, into a text."""

from __future__ import annotations

import io

from boxspec.judge.results import ResultTree
from boxspec.report import summary
from boxspec.report.console import Console


def console_text(found: ResultTree, *, verbose: bool = False) -> str:
    """Return all that a run prints about its results."""
    out = io.StringIO()
    shown = Console(out, verbose=verbose)
    summary.print_summary(shown, found)
    status = found.exit_code()
    summary.close(shown, found, status, found.incomplete(False), interrupted=False)
    return out.getvalue()
