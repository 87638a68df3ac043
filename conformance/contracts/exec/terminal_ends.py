"""Describe the end of a run in which the child reads a line from a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from boxspec.api import AnswerText
from contracts.exec.spawn_io import outcome
from contracts.shared.runs import RunAnswer

# A stopped child that is not continued after the SIGTERM lives until the end of the grace period.
EARLY_MS = 4500
NOT_STOPPED = "it read the line, or the run ended early and names the stop"


def how_it_ended(seen: RunAnswer, line: bytes) -> str:
    """Return NOT_STOPPED for both correct outcomes, else a text about the outcome."""
    if seen.result["success"] and seen.stdout == b"got %s\n" % line:
        return AnswerText(NOT_STOPPED, seen)
    if seen.result.get("termination") == "timeout" or b"timed out" in seen.stderr:
        return AnswerText("it was stopped until the deadline", seen)
    named = f"{seen.result.get('signal')} {seen.stderr!r}"
    if not seen.result["success"] and ("SIGTTIN" in named or "SIGTTOU" in named):
        stopped = seen.result["duration_ms"] >= EARLY_MS
        return AnswerText("it was stopped for a grace period" if stopped else NOT_STOPPED, seen)
    return outcome(seen)


def how_two_ended(runs: Sequence[RunAnswer]) -> list[str]:
    """Return how two runs ended. Each child reads one line, and "words" was typed twice.

    Two shells that read at the same time share the lines, because a shell reads single bytes.
    """
    if all(run.result["success"] and run.stdout.startswith(b"got ") for run in runs):
        read = b"".join(run.stdout.removeprefix(b"got ").strip() for run in runs)
        if sorted(read) == sorted(b"words" * 2):
            return [AnswerText(NOT_STOPPED, run) for run in runs]
    return [how_it_ended(run, b"words") for run in runs]
