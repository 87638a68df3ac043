"""Report how much of each part of the reference the fuzz corpora cover; fail below the minimum.

usage: fuzz_coverage.py FED STARVED
Both are tracefiles (lcov) of one build. FED comes from a replay of all corpora, STARVED from a
replay with failing allocations. Lines and branches that only STARVED reaches handle allocation
failures: they are counted separately and are in neither percentage. What neither replay reaches is
reported as uncovered.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

GATE = {"lines": 95.0, "branches": 90.0}

# Parts, and their files below reference/.
PARTS = {
    "load": """base/json_text base/position policy/document/load policy/document/shape
        policy/document/shape_head policy/file/json policy/file/node policy/file/print
        policy/file/problems policy/file/read policy/file/scalar policy/file/yaml
        policy/file/yaml_scan""",
    "validate": """policy/document/cover policy/document/exception policy/document/merge
        policy/document/validate policy/document/warn policy/path/rule""",
    "glob": """base/arena base/table policy/match/automaton policy/match/backtrack policy/match/dfa
        policy/match/glob policy/match/index policy/match/index_build
        policy/match/keys policy/match/matcher policy/match/subset policy/match/tables
        policy/match/tokens policy/path/fold""",
    "path": "policy/path/path",
    "module": "module/output",
    "process": "process/process shim/process_request",
    "evaluate": "policy/profile/check policy/profile/explain policy/profile/resolve",
    "sbpl": """sbpl/bodies sbpl/filter sbpl/flags sbpl/place sbpl/places sbpl/regex sbpl/sbpl
        sbpl/spell sbpl/spellings sbpl/unfold sbpl/unlink sbpl/wrap""",
}
# Code that no target tests: it reads folders, writes or rewrites files, relays streams, waits for
# the processes of a group, or explains decisions. Every file of these rooms must be listed here or
# in PARTS.
ROOMS = ("module/", "policy/", "process/", "sbpl/")
OUTSIDE = """module/environment module/folder module/lookup module/module module/runner
    module/hiding process/bridge process/ending process/watcher policy/authoring/draft
    policy/authoring/links policy/authoring/migrate policy/authoring/whynot policy/path/walk
    policy/profile/audit policy/profile/linked policy/profile/resolved sbpl/file
    sbpl/writable"""

Place = tuple[int, ...]  # (line,), or (line, and the numbers of a branch)


@dataclass
class Coverage:
    """The lines and branches of one file, and whether each was executed."""

    lines: dict[Place, bool] = field(default_factory=dict)
    branches: dict[Place, bool] = field(default_factory=dict)


def read(tracefile: Path) -> dict[str, Coverage]:
    files: dict[str, Coverage] = defaultdict(Coverage)
    now = Coverage()
    for line in tracefile.read_text(encoding="utf-8").splitlines():
        kind, _, rest = line.partition(":")
        if kind == "SF":
            now = files[rest]
        elif kind == "DA":
            number, count = rest.split(",")[:2]
            now.lines[(int(number),)] = count != "0"
        elif kind == "BRDA":
            *place, count = rest.split(",")
            now.branches[tuple(map(int, place))] = count not in ("0", "-")
    return files


@dataclass
class Score:
    taken: int = 0
    apart: int = 0
    gaps: int = 0

    def add(self, fed: dict[Place, bool], starved: dict[Place, bool]) -> None:
        for place, passed in fed.items():
            if passed:
                self.taken += 1
            elif starved.get(place, False):
                self.apart += 1
            else:
                self.gaps += 1

    def plus(self, other: Score) -> None:
        self.taken += other.taken
        self.apart += other.apart
        self.gaps += other.gaps

    @property
    def percent(self) -> float:
        total = self.taken + self.gaps
        return 100.0 * self.taken / total if total else 100.0

    def __str__(self) -> str:
        return f"{self.percent:6.1f} % of {self.taken + self.gaps:4d}, apart {self.apart:3d}"


def unit_of(path: str) -> str | None:
    """Return the name that PARTS uses for a source of the reference."""
    name = path.rpartition("/reference/")[2]
    return name.removesuffix(".c") if name.endswith(".c") else None


def part_of(unit: str | None) -> str | None:
    return next((part for part, units in PARTS.items() if unit in units.split()), None)


def unlisted(sources: Iterable[str]) -> list[str]:
    """Return names in PARTS that have no source, and sources that no list names."""
    units = {unit for each in sources if (unit := unit_of(each)) is not None}
    named = {unit for each in PARTS.values() for unit in each.split()}
    rooms = {unit for unit in units if unit.startswith(ROOMS)}
    return sorted({*(named - units), *(rooms - named - {*OUTSIDE.split()})})


def main(words: list[str]) -> int:
    if len(words) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    fed, starved = (read(Path(word)) for word in words)
    parts: dict[str, dict[str, dict[str, Score]]] = {part: {} for part in PARTS}
    for path, taken in sorted(fed.items()):
        unit = unit_of(path)
        part = part_of(unit)
        if unit is None or part is None:
            continue
        scores = parts[part].setdefault(unit, {kind: Score() for kind in GATE})
        scores["lines"].add(taken.lines, starved[path].lines)
        scores["branches"].add(taken.branches, starved[path].branches)
    failed = [f"{unit} is in no part, or no source" for unit in unlisted(fed)]
    for part, units in parts.items():
        total = {kind: Score() for kind in GATE}
        for unit, scores in units.items():
            print(f"  {unit:24} lines {scores['lines']}   branches {scores['branches']}")
            for kind, score in scores.items():
                total[kind].plus(score)
        low = [kind for kind, gate in GATE.items() if total[kind].percent < gate]
        failed += [f"{part} {kind}" for kind in low]
        print(f"{part:26} lines {total['lines']}   branches {total['branches']}")
    verdict = f"below the gate: {', '.join(failed)}" if failed else "all parts reach it"
    print(f"gate {GATE['lines']:.0f} % of lines, {GATE['branches']:.0f} % of branches; {verdict}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
