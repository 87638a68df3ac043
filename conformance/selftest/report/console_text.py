"""Print results as a run does, into a text."""

from __future__ import annotations

import io

from boxspec.judge.results import ResultTree
from boxspec.report import summary
from boxspec.report.console import Console
from boxspec.report.failures import grouped


def console_text(found: ResultTree, *, verbose: bool = False) -> str:
    """Return all that a run prints about its results."""
    out = io.StringIO()
    _print_results(Console(out, verbose=verbose), found)
    return out.getvalue()


def quiet_text(found: ResultTree) -> str:
    """Return all that a run prints with -q."""
    out = io.StringIO()
    shown = Console(out, quiet=True)
    shown.header()
    _print_results(shown, found)
    return out.getvalue()


def _print_results(shown: Console, found: ResultTree) -> None:
    groups, status = grouped(found), found.exit_code()
    summary.print_summary(shown, found, groups)
    summary.close(shown, found, groups, status, found.incomplete(False), interrupted=False)
