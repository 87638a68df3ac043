"""Measure how often verdicts about time are correct, for late shims and a punctual one.

    .venv/bin/python -P -m selftest.subject.time_counts --rounds 100 --file counts.jsonl

Each round is a whole `boxspec run` of the tests of EXEC-TIMEOUT-03. The file has one line per run,
with the measured times of each attempt; an interrupted measurement continues from it. Exit status:
0 if each row holds, else 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selftest.tools import PYTHON_IMPLEMENTATION, ROOT, boxspec

SLOW_IMPLEMENTATION = ROOT / "conformance" / "selftest" / "shims" / "slow_implementation.py"
INTERPRETER = f"{Path(sys.executable).resolve()} -I -S"
TESTS = "test_a_deadline_is_noticed_within_a_tick"
BUSY = 8


@dataclass(frozen=True)
class Row:
    """A kind of run.

    late_ms: delay of the shim at each deadline.
    busy: number of busy loops.
    never: verdicts that no run may have.
    """

    name: str
    late_ms: int
    busy: int
    never: frozenset[str]


LATE, ON_TIME = frozenset({"conforms", "not-measured"}), frozenset({"fails"})
ROWS = [
    Row("150 ms late, nothing beside it", 150, 0, LATE),
    Row(f"300 ms late, {BUSY} busy loops", 300, BUSY, frozenset({"conforms"})),
    Row("on time, nothing beside it", 0, 0, ON_TIME),
    Row(f"on time, {BUSY} busy loops", 0, BUSY, ON_TIME),
]


def once(row: Row) -> dict[str, Any]:
    """Run once; return the verdict of each test and its measured times."""
    shim = f"{INTERPRETER} {SLOW_IMPLEMENTATION} deadline={row.late_ms} --"
    if not row.late_ms:
        shim = f"{INTERPRETER} {PYTHON_IMPLEMENTATION}"
    with tempfile.TemporaryDirectory(prefix="boxspec-counts-") as folder:
        file = Path(folder) / "result.json"
        words = ["run", "--shim", shim, "-k", TESTS, "--busy", str(row.busy), "--json", str(file)]
        done = boxspec(*words, env={"TMPDIR": folder})
        if not file.exists():
            return {"row": row.name, "verdicts": ["no result"], "said": done.stderr[-400:]}
        tests = json.loads(file.read_text())["tests"]
    return {
        "row": row.name,
        "verdicts": sorted(each["verdict"] for each in tests),
        "timing": [each["timing"] for each in tests],
    }


def told(row: Row, runs: list[dict[str, Any]]) -> tuple[str, bool]:
    """Return the line of output for a row, and True if no test has a verdict of `never`."""
    counts = Counter(verdict for each in runs for verdict in each["verdicts"])
    wrong = {name: n for name, n in counts.items() if name in row.never or name == "no result"}
    said = ", ".join(f"{name} {n}" for name, n in sorted(counts.items()))
    return f"{'no' if wrong else 'ok':3} {row.name:32} {len(runs):4} runs: {said}", not wrong


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=100, help="runs of each row (default: 100)")
    parser.add_argument("--file", type=Path, help="a line of JSON for each run; goes on with it")
    args = parser.parse_args(argv)
    lines = []
    if args.file and args.file.exists():
        lines = [json.loads(line) for line in args.file.read_text().splitlines()]
    runs = {row: [each for each in lines if each["row"] == row.name] for row in ROWS}
    for _ in range(args.rounds):
        for row in ROWS:
            if len(runs[row]) < args.rounds:
                runs[row].append(once(row))
                if args.file:
                    with args.file.open("a", encoding="utf-8") as out:
                        out.write(json.dumps(runs[row][-1]) + "\n")
    found = [told(row, runs[row]) for row in ROWS]
    for line, _ in found:
        print(line)
    return 0 if all(holds for _, holds in found) else 1


if __name__ == "__main__":
    sys.exit(main())
