"""Fuzz several targets in turns. The next turn is for the target with the least time so far."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from boxspec.errors import HarnessError
from boxspec.fuzz.findings import Finding
from boxspec.fuzz.ledger import Entry, Found, Ledger, checkout, seconds_of
from boxspec.fuzz.outcome import Outcome
from boxspec.fuzz.targets import Target
from boxspec.places import ROOT

# The duration of a turn. It is short, so that an interrupted run has tried every target. But it is
# long compared with the start of an engine, which first reads a corpus.
TURN_S = 120.0
# A target whose remaining time is shorter gets no further turn.
ENOUGH_S = 0.5


class Turns:
    """Runs targets in turns.

    make: a function that runs a target with a seed for a number of seconds.
    stopped: a list that is not empty once the user wants to stop.

    Each turn has a new seed, because with one seed the engine would repeat its choices.
    """

    def __init__(
        self, engine: str, jobs: int, seed: int, make: Callable[[Target, int, float], Outcome]
    ) -> None:
        self._engine, self._jobs, self._seed, self._make = engine, jobs, seed, make
        self.left_out: list[str] = []

    def run(
        self, chosen: Sequence[Target], each_s: float, ledger: Ledger, stopped: Sequence[int]
    ) -> list[Finding]:
        """Run turns until the ledger has `each_s` seconds of each target."""
        found: list[Finding] = []
        commit, dirty = checkout(ledger.path)
        while not stopped:
            entries = ledger.entries()
            turn = self._next(chosen, each_s, seconds_of(entries, self._engine))
            if turn is None:
                break
            target, seconds = turn
            before = [e for e in entries if (e.target, e.engine) == (target.name, self._engine)]
            seed, at = self._seed + len(before), datetime.now(UTC)
            try:
                outcome = self._make(target, seed, seconds)
            except HarnessError as why:
                # The target failed; the other targets still get their time.
                print(f"boxspec: {target.name}: {why}", file=sys.stderr)
                self.left_out.append(target.name)
                continue
            if outcome.ended_early is not None:
                self.left_out.append(target.name)
            ledger.append(
                Entry(
                    at=at.strftime("%Y-%m-%dT%H:%M:%SZ"),
                    commit=commit,
                    dirty=dirty,
                    target=target.name,
                    engine=self._engine,
                    jobs=self._jobs,
                    seed=seed,
                    wall_s=round(outcome.wall_s, 1),
                    cpu_s=round(outcome.cpu_s, 1),
                    runs=outcome.progress.runs,
                    inputs_before=outcome.inputs_before,
                    inputs_after=outcome.inputs_after,
                    edges=outcome.progress.edges,
                    ended_early=outcome.ended_early,
                    findings=tuple(map(_ledger_entry, outcome.findings)),
                )
            )
            found += outcome.findings
        return found

    def _next(
        self, chosen: Sequence[Target], each_s: float, spent: Mapping[str, float]
    ) -> tuple[Target, float] | None:
        able = [target for target in chosen if target.name not in self.left_out]
        if not able:
            return None
        # If times are equal, the first target of the list is chosen.
        target = min(able, key=lambda each: spent.get(each.name, 0.0))
        missing = each_s - spent.get(target.name, 0.0)
        return (target, min(missing, TURN_S)) if missing >= ENOUGH_S else None


def _ledger_entry(finding: Finding) -> Found:
    """Return the entry for the results file.

    Paths in the checkout are stored as relative paths, because the results file may be committed.
    """
    path = finding.path
    kept = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    return Found(finding.report.key, finding.report.message, str(kept))
