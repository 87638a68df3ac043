"""Tests of the mark `turns`: a test with it runs at one of n commits."""

from __future__ import annotations

import sys

from selftest.tools import CONFORMANCE, run

FILE = CONFORMANCE / "selftest" / "schedule" / "test_fail_fast.py"


def asked(**environment: str) -> list[str]:
    words = [sys.executable, "-P", "-m", "pytest", "-q", "--collect-only", str(FILE)]
    done = run(words, env=environment)
    assert done.returncode == 0, done.stderr
    return sorted(line for line in done.stdout.splitlines() if "::" in line)


def test_each_marked_test_runs_at_one_of_ten_commits() -> None:
    of_turns = [asked(BOXSPEC_TURN=str(number)) for number in range(100, 110)]
    every = asked(BOXSPEC_TURN="")
    counts = [sum(name in each for each in of_turns) for name in every]
    assert {*counts} == {1, 10}
    assert counts.count(1) == FILE.read_text().count("@pytest.mark.turns(10)")
