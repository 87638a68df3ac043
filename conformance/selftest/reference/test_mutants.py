"""Tests of the program that runs the mutants of reference/tests/mutants."""

from __future__ import annotations

import sys
from pathlib import Path

from selftest.tools import ROOT, run

# More levels of folders than Python's recursion allows (1,000).
DEEP = 2000
LEAVES_A_DEEP_TREE = f"""
import os
import run
with run.workplace() as place:
    os.chdir(place)
    for _ in range({DEEP}):
        os.mkdir("d")
        os.chdir("d")
"""

FINDS_TWO_LINES = """
import json
import making
file = "reference/tests/mutants/sample.c"
entry = {"contract": "exec", "file": file, "before": "b;\\n    c;", "after": "d;"}
making.ROOT = making.HERE = making.Path.cwd()
(making.HERE / file).parent.mkdir(parents=True)
(making.HERE / file).write_text("a;\\n    b;\\n    c;\\n")
(making.HERE / "named.json").write_text(json.dumps([entry]))
[found] = making.named("exec")
print(found.line, found.stands())
"""

FINDS_LATE_TESTS = """
import suite
late = {"verdict": "not-measured", "reason": "late in each of 3 attempts: no answer"}
lacks = {"verdict": "not-measured", "reason": "the host lacks IPv6"}
ids = {"requirements": ["MODULE-DIR-03"]}
print(suite.late({"tests": [late | ids, lacks | {"requirements": ["MODULE-DIR-04"]}]}))
"""

NAMES_THE_TOPICS = """
import json
import ledger
path = ledger.Path("ledger.jsonl")
entries = [
    {"file": "a.c", "by": ["EXEC-CAP-01"]},
    {"file": "b.c", "by": ["EXEC-ENV-01", "EXEC-ENV-02"]},
    {"file": "b.c", "by": ["EXEC-ENV-01"]},
    {"file": "b.c", "by": ["not a conforming shim"]},
    {"file": "a.c", "by": ["MODULE-IN-01"], "contract": "module"},
]
common = {"contract": "exec", "seed": 1, "verdict": "killed", "mutant": "m"}
path.write_text("".join(json.dumps(common | entry) + "\\n" for entry in entries))
print(ledger.Ledger(path).killers("exec", "a.c"), ledger.Ledger(path).killers("exec", "c.c"))
"""

COUNTS_ORDERS = """
import json
import ledger
path = ledger.Path("ledger.jsonl")
common = {"contract": "exec", "seed": 1, "commit": "c0ffee", "file": "a.c", "by": []}
verdicts = ["killed", "survived", "survived", "survived"]
lines = [
    common | {"mutant": f"m{number}", "verdict": verdict} for number, verdict in enumerate(verdicts)
]
lines += [{"mutant": "m1", "orders": "killed", "by": []}]
lines += [{"mutant": "m3", "reading": "equivalent", "why": ""}]
path.write_text("".join(json.dumps(line) + "\\n" for line in lines))
print(ledger.Ledger(path).report(1))
"""


def test_topics_that_killed_mutants_of_the_same_file_come_first(tmp_path: Path) -> None:
    path = str(ROOT / "reference" / "tests" / "mutants")
    done = run([sys.executable, "-c", NAMES_THE_TOPICS], cwd=tmp_path, env={"PYTHONPATH": path})
    wanted = "['EXEC-CAP', 'EXEC-ENV'] ['EXEC-ENV', 'EXEC-CAP']\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, wanted, "")


def test_the_report_counts_what_forced_orders_kill(tmp_path: Path) -> None:
    path = str(ROOT / "reference" / "tests" / "mutants")
    done = run([sys.executable, "-c", COUNTS_ORDERS], cwd=tmp_path, env={"PYTHONPATH": path})
    assert (done.returncode, done.stderr) == (0, "")
    assert "33 % of those not equivalent are killed; 67 % with the 1 that forced" in done.stdout
    assert done.stdout.startswith("exec seed 1, commit c0ffee: asked 4,")


def test_a_test_that_is_late_in_each_attempt_does_not_let_a_mutant_survive(tmp_path: Path) -> None:
    path = str(ROOT / "reference" / "tests" / "mutants")
    done = run([sys.executable, "-c", FINDS_LATE_TESTS], cwd=tmp_path, env={"PYTHONPATH": path})
    assert (done.returncode, done.stdout, done.stderr) == (0, "['MODULE-DIR-03']\n", "")


def test_a_named_mutant_may_replace_several_lines(tmp_path: Path) -> None:
    path = str(ROOT / "reference" / "tests" / "mutants")
    done = run([sys.executable, "-c", FINDS_TWO_LINES], cwd=tmp_path, env={"PYTHONPATH": path})
    assert (done.returncode, done.stdout, done.stderr) == (0, "2 True\n", "")


def test_each_mutant_is_in_one_part_of_similar_size() -> None:
    lines = (
        "import hashlib, making",
        "keys = [hashlib.sha256(b'%d' % n).hexdigest()[:12] for n in range(400)]",
        "parts = [[k for k in keys if making.is_in(k, (n, 4))] for n in range(1, 5)]",
        "print(sorted(sum(parts, [])) == sorted(keys), min(map(len, parts)) > 70)",
    )
    path = str(ROOT / "reference" / "tests" / "mutants")
    done = run([sys.executable, "-c", "\n".join(lines)], env={"PYTHONPATH": path})
    assert (done.stdout, done.stderr) == ("True True\n", "")


def test_a_deep_tree_that_a_mutant_leaves_is_deleted(tmp_path: Path) -> None:
    done = run(
        [sys.executable, "-c", LEAVES_A_DEEP_TREE],
        cwd=ROOT / "reference" / "tests" / "mutants",
        env={"TMPDIR": str(tmp_path)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == []
