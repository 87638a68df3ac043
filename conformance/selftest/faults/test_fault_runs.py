"""Tests of the evaluation of a fault: which runs it needs, and what their results mean."""

from __future__ import annotations

import os
from typing import Any

import pytest

from boxspec.cli.dev.faults import closing, lanes
from boxspec.cli.dev.faults import line as faults_line
from boxspec.faults.evaluate import evaluate, is_unsettled, settle
from boxspec.faults.fault import Fault
from boxspec.faults.outcome import Outcome


class Scripted:
    """A fake runner of the kit.

    The first runs fail for the given requirements, one list per run; all later runs fail for none.
    """

    def __init__(self, *results: list[str]) -> None:
        self.results = list(results)
        self.asked: list[list[str]] = []

    def failing(self, fault: Fault, scope: list[str]) -> list[str]:
        self.asked.append(scope)
        return self.results.pop(0) if self.results else []


def fault_of(requirement: str | None, contract: str = "exec", role: str = "fault") -> Fault:
    return Fault("x.y", contract, requirement, role, "mistake", "seen")


def judged(
    fault: Fault, scope: str | None, *results: list[str], others: list[str] | None = None
) -> tuple[Any, Scripted]:
    runs = Scripted(*results)
    outcome = evaluate(fault, runs, scope, others or [])  # type: ignore[arg-type]
    if is_unsettled(outcome):
        settle(outcome, runs)  # type: ignore[arg-type]
    return outcome, runs


def test_the_number_of_complete_runs_depends_on_the_processors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    wide = lanes("exec", "named")
    assert wide > 3
    assert [lanes("exec", scope) for scope in ("own", "focus", "all", None)] == [wide, 3, 3, 3]
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert lanes("exec", "all") == wide


def test_a_missed_fault_has_two_tries_and_four_more() -> None:
    outcome, runs = judged(fault_of("EXEC-KILL-02"), None)
    assert (outcome.word, outcome.tries) == ("missed", 6)
    assert runs.asked == [["--focus", "EXEC-KILL"], *[["EXEC-KILL-02", "-x"]] * 5]


def test_one_requirement_runs_up_to_its_first_failure() -> None:
    outcome, runs = judged(fault_of("EXEC-KILL-02"), "named", ["EXEC-KILL-02"])
    assert (outcome.word, runs.asked) == ("caught", [["EXEC-KILL-02", "-x"]])


@pytest.mark.parametrize("scope", [None, "own", "focus", "all"])
@pytest.mark.parametrize("role", ["control", "noop"])
def test_a_fault_without_a_requirement_runs_all_tests(role: str, scope: str | None) -> None:
    _, runs = judged(fault_of(None, role=role), scope, others=["EXEC-KILL-02"])
    assert runs.asked == [[]]


def test_a_control_runs_up_to_its_first_failure() -> None:
    control, met = fault_of(None, role="control"), ["EXEC-KILL-02"]
    outcome, runs = judged(control, "named", met, others=["EXEC-ENV-02"])
    assert (outcome.good, runs.asked) == (True, [["-x"]])
    assert not judged(control, "named")[0].good


def test_a_noop_runs_the_tests_of_its_neighbours() -> None:
    noop, beside = fault_of(None, role="noop"), ["EXEC-KILL-02", "EXEC-ENV-02", "EXEC-KILL-02"]
    outcome, runs = judged(noop, "named", others=beside)
    each = ["EXEC-ENV-02", "EXEC-KILL-02"]
    assert (outcome.good, runs.asked) == (True, [each])
    assert judged(noop, "named", others=[])[1].asked == [[]]


def test_a_detected_noop_runs_again_on_its_own() -> None:
    fault, met = fault_of(None, role="noop"), ["EXEC-KILL-02"]
    outcome, runs = judged(fault, "named", met)
    assert (outcome.word, runs.asked) == ("quiet", [[], ["--topic", "EXEC-KILL"]])
    assert judged(fault, "named", met, met)[0].word == "caught"


@pytest.mark.parametrize("tries", range(1, 7))
def test_the_detecting_attempt_is_reported(tries: int) -> None:
    outcome, runs = judged(fault_of("EXEC-KILL-02"), "own", *[[]] * (tries - 1), ["EXEC-KILL-02"])
    assert (outcome.word, outcome.tries, len(runs.asked)) == ("caught", tries, tries)
    told = faults_line(outcome)
    assert (f"({tries} tries)" in told) == (tries > 1)


def test_a_policy_fault_meets_its_topic_and_one_test_of_each_other_requirement() -> None:
    outcome, runs = judged(fault_of("POLICY-GLOB-03", "policy"), None, ["POLICY-GLOB-03"])
    assert (outcome.scope, runs.asked) == ("focus", [["--focus", "POLICY-GLOB"]])


def test_another_topic_counts_when_it_fails_twice() -> None:
    both = ["POLICY-GLOB-03", "POLICY-RULE-01"]
    fault = fault_of("POLICY-GLOB-03", "policy")
    outcome, runs = judged(fault, None, both, ["POLICY-RULE-01"])
    assert (outcome.word, outcome.blunt) == ("blunt", ["POLICY-RULE-01"])
    assert runs.asked[1] == ["--topic", "POLICY-RULE"]
    assert judged(fault, None, both)[0].word == "caught"


def test_a_noop_is_quiet_and_a_control_is_caught() -> None:
    assert judged(fault_of(None, role="noop"), None)[0].good
    assert not judged(fault_of(None, role="control"), None)[0].good
    assert judged(fault_of(None, role="control"), None, ["EXEC-KILL-02"])[0].good


def test_the_closing_line_names_what_is_not_as_expected() -> None:
    noop, control = (fault_of(None, role=role) for role in ("noop", "control"))
    outcomes = [
        Outcome(noop, "named", ["EXEC-KILL-02"]),
        Outcome(noop, "named"),
        Outcome(control, "named", ["EXEC-KILL-01"]),
        Outcome(fault_of("EXEC-KILL-02"), "named"),
    ]
    told = closing(outcomes, 4)
    assert "controls caught 1 of 1 · no-ops caught 1 of 2" in told
    assert f"not as expected: {noop.id} caught by EXEC-KILL-02, " in told
    assert told.endswith(" missed")
    assert "not as expected" not in closing(outcomes[1:3], 2)
