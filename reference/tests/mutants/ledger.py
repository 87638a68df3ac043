"""The ledger: one line of JSON for each mutant that was tried, and for each classified survivor.

A survivor with the field `only` was judged by a part of the suite. The whole suite may kill it.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
READINGS = ("equivalent", "out-of-contract", "hole", "closed")
# Results of mutants that were not run: the compiler refused the mutant, or its object file was the
# same as an earlier one.
NEVER_ASKED = ("does-not-build", "same-object", "duplicate")

# Number of topics that run before the whole suite. In the ledger, four topics catch three quarters
# of the mutants.
FIRST = 4
# A kill in the same file counts as much as this many kills in other files.
SAME_FILE = 3


class Ledger:
    """A file to which entries are only appended, so that an interrupted run can continue."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries: list[Entry] = []
        self.readings: dict[str, Entry] = {}
        self.reached: dict[str, bool] = {}
        # The verdict with forced orders, of mutants that the suite alone does not kill.
        self.orders: dict[str, str] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                self._take(json.loads(line))

    def _take(self, entry: Entry) -> None:
        if "reading" in entry:
            self.readings[entry["mutant"]] = entry
        elif "reached" in entry:
            self.reached[entry["mutant"]] = entry["reached"]
        elif "orders" in entry:
            self.orders[entry["mutant"]] = entry["orders"]
        else:
            self.entries.append(entry)

    def append(self, entry: Entry) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        self._take(entry)

    def of(self, contract: str, seed: int | str) -> list[Entry]:
        return [e for e in self.entries if (e["contract"], e["seed"]) == (contract, seed)]

    def survivors(self, contract: str) -> list[Entry]:
        return [
            entry
            for entry in self.entries
            if (entry["contract"], entry["verdict"]) == (contract, "survived")
        ]

    def killers(self, contract: str, file: str) -> list[str]:
        """Return the topics that killed most earlier mutants. Topics that killed mutants of the
        same file come first.
        """
        counts: Counter[str] = Counter()
        prefix = f"{contract.upper()}-"
        for entry in self.entries:
            if entry["contract"] == contract and entry["verdict"] == "killed":
                topics = {name.rsplit("-", 1)[0] for name in entry["by"] if name.startswith(prefix)}
                counts.update(dict.fromkeys(topics, SAME_FILE if entry["file"] == file else 1))
        return [topic for topic, _ in counts.most_common(FIRST)]

    def reading(self, mutant: str) -> str:
        reading: str = self.readings.get(mutant, {}).get("reading", "not read")
        return reading

    def report(self, only: int | None = None) -> str:
        lines = []
        for contract, seed in sorted({(e["contract"], e["seed"]) for e in self.entries}, key=str):
            if only not in (None, seed):
                continue
            entries = self.of(contract, seed)
            commits = ", ".join(dict.fromkeys(e["commit"] for e in entries))
            run = [e for e in entries if e["verdict"] not in NEVER_ASKED]
            verdicts = Counter(e["verdict"] for e in run)
            survivors = [e for e in run if e["verdict"] == "survived"]
            readings = Counter(self.reading(e["mutant"]) for e in survivors)
            judged = len(run) - readings["equivalent"]
            killed = verdicts["killed"] + readings["closed"]
            share = f"{100 * killed / judged:.0f} %" if judged else "-"
            lines.append(
                f"{contract} seed {seed}, commit {commits}: "
                f"asked {len(run)}, killed {verdicts['killed']}, "
                f"closed by a new case {readings['closed']}, "
                f"equivalent {readings['equivalent']}, "
                f"out of contract {readings['out-of-contract']}, holes {readings['hole']}, "
                f"not read {readings['not read']}: {share} of those not equivalent are killed"
            )
            by_orders = [
                e["mutant"]
                for e in survivors
                if self.orders.get(e["mutant"]) == "killed"
                and self.reading(e["mutant"]) not in ("closed", "equivalent")
            ]
            if by_orders:
                share = f"{100 * (killed + len(by_orders)) / judged:.0f} %"
                lines[-1] += f"; {share} with the {len(by_orders)} that forced orders kill"
            missed = sum(self.reached.get(e["mutant"]) is False for e in survivors)
            if missed:
                lines[-1] += f"; {missed} survivors were not reached"
            unclear = len(run) - verdicts["killed"] - verdicts["survived"]
            if unclear:
                lines[-1] += f"; {unclear} undecided"
        return "\n".join(lines)
