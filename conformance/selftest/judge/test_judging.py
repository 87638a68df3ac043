"""Tests of the verdicts of requirements: blocked and not applicable ones, and the exit status."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from boxspec.errors import UsageError
from boxspec.judge import requirements
from boxspec.judge.expect import expect
from boxspec.judge.record import Record
from boxspec.judge.requirements import Requirement, load
from boxspec.judge.results import JudgedRequirement, ResultTree
from boxspec.judge.verdict import (
    Blocked,
    Declared,
    Failure,
    HostLacks,
    NotApplicable,
    NotMeasured,
    Verdict,
)
from boxspec.subject.observed import Answer, AnswerText
from selftest.tools import FAKE, PYTHON_IMPLEMENTATION, boxspec
from selftest.trees import CAPPED, HARDENED, MUST, OTHER_MUST, SHOULD, failed, record, tree

pytestmark = pytest.mark.turns(6)

ROOT_NEEDED = HostLacks("root", "needs root")


def of(found: ResultTree, name: str) -> JudgedRequirement:
    return next(each for each in found.judged if each.id == name)


@pytest.fixture
def needing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Change the registry: OTHER_MUST needs MUST, and SHOULD needs OTHER_MUST."""
    known = dict(load())
    known[OTHER_MUST] = replace(known[OTHER_MUST], needs=(MUST,))
    known[SHOULD] = replace(known[SHOULD], needs=(OTHER_MUST,))
    monkeypatch.setattr("boxspec.judge.requirement_verdicts.load", lambda: known)
    monkeypatch.setattr("boxspec.judge.requirements.load", lambda: known)
    yield


# Blocked -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("needing")
def test_a_failure_that_needs_a_broken_requirement_is_blocked_by_it() -> None:
    found = tree([record(MUST, failed()), record(OTHER_MUST, failed()), record(SHOULD, failed())])
    for name in (OTHER_MUST, SHOULD):
        each = of(found, name)
        assert (each.verdict, each.blocked_by) == (Verdict.NOT_MEASURED, [MUST])
        assert each.reason == f"blocked by {MUST}"
    assert found.of("contract", "MUST") == (0, 2)
    assert [each.id for each in found.broken] == [MUST]


@pytest.mark.usefixtures("needing")
def test_where_the_needed_one_conforms_a_failure_is_one() -> None:
    found = tree([record(MUST), record(OTHER_MUST, failed()), record(SHOULD, failed())])
    assert (of(found, OTHER_MUST).verdict, of(found, OTHER_MUST).blocked_by) == ("fails", [])
    # SHOULD is blocked by the requirement that it needs itself, not by one that this requirement
    # needs.
    assert of(found, SHOULD).blocked_by == [OTHER_MUST]


@pytest.mark.usefixtures("needing")
@pytest.mark.parametrize("verdict", ["escaped", "contradiction"])
def test_an_observed_effect_is_never_blocked(verdict: str) -> None:
    seen = Failure("a write outside", "none", "one", verdict=Verdict(verdict))
    found = tree([record(MUST, failed()), record(OTHER_MUST, seen)])
    assert of(found, OTHER_MUST).verdict == verdict


def test_a_failure_may_name_the_blocking_requirement() -> None:
    explained = Failure("what is allowed", "it works", "it is refused", needs=[MUST])
    records = [record(OTHER_MUST, explained), record(OTHER_MUST, failed())]
    assert of(tree([record(MUST, failed()), records[0]]), OTHER_MUST).blocked_by == [MUST]
    assert of(tree([record(MUST), records[0]]), OTHER_MUST).verdict == "fails"
    # The second failure does not need MUST, so the requirement fails.
    assert of(tree([record(MUST, failed()), *records]), OTHER_MUST).verdict == "fails"


@pytest.mark.usefixtures("needing")
def test_an_update_from_another_process_keeps_existing_needs() -> None:
    theirs = Record("", [])
    theirs.set_verdict(failed(needs=[HARDENED]))
    made = record(OTHER_MUST, needs=[MUST])
    made.update(theirs.changed_fields())
    assert made.needs == sorted([MUST, HARDENED])
    assert of(tree([record(MUST, failed()), made]), OTHER_MUST).blocked_by == [MUST]


def test_a_conforming_requirement_is_not_blocked() -> None:
    found = tree([record(MUST, failed()), record(OTHER_MUST)])
    assert of(found, OTHER_MUST).verdict is Verdict.CONFORMS


def test_a_test_may_need_more_than_its_requirement() -> None:
    needs = {"needs": [MUST]}
    records = [
        record(MUST, failed()),
        record(f"{OTHER_MUST}/one", failed(), **needs),
        record(f"{OTHER_MUST}/two", failed("its length")),
    ]
    each = of(tree(records), OTHER_MUST)
    assert ([record.name for record in each.failing], each.reason) == (
        ["two"],
        "its length: expected a, got b",
    )
    assert of(tree(records[:2]), OTHER_MUST).blocked_by == [MUST]


def test_needs_are_transitive() -> None:
    records = [
        record(MUST, failed()),
        record(OTHER_MUST, failed(), needs=[MUST]),
        record(SHOULD, failed(), needs=[OTHER_MUST]),
    ]
    assert of(tree(records), SHOULD).blocked_by == [MUST]
    assert of(tree([record(MUST), *records[1:]]), SHOULD).blocked_by == [OTHER_MUST]
    # If requirements need each other in a circle, one of them must still fail.
    records[1].needs.append(SHOULD)
    found = tree([record(MUST), *records[1:]])
    assert "fails" in (of(found, OTHER_MUST).verdict, of(found, SHOULD).verdict)


def test_needs_in_a_circle_block_nothing_for_ever() -> None:
    records = [
        record(MUST, failed(), needs=[OTHER_MUST]),
        record(OTHER_MUST, failed(), needs=[MUST]),
    ]
    found = tree(records)
    assert [each.id for each in found.broken] != []


def test_a_test_may_raise_blocked_itself() -> None:
    found = tree([record(MUST, Blocked([CAPPED], "nothing is cut")), record(OTHER_MUST)])
    assert of(found, MUST).reason == f"blocked by {CAPPED}: nothing is cut"
    assert found.exit_code() == 3


def test_a_conforming_requirement_blocks_no_test() -> None:
    found = tree([record(MUST, Blocked([OTHER_MUST], "no answer")), record(OTHER_MUST)])
    each = of(found, MUST)
    assert (each.verdict, each.blocked_by) == (Verdict.NOT_MEASURED, [])
    assert each.reason == (f"{OTHER_MUST} broke here, and in its own tests it conforms: no answer")
    assert found.exit_code() == 3


def test_a_test_that_needs_more_than_its_requirement_leaves_it_to_the_others() -> None:
    away = record(f"{MUST}/capped", NotApplicable.without("exec.cap"))
    assert of(tree([record(MUST), away]), MUST).verdict is Verdict.CONFORMS
    assert of(tree([record(MUST, failed()), away]), MUST).verdict is Verdict.FAILS
    alone = of(tree([away]), MUST)
    assert (alone.verdict, alone.missing) == (Verdict.NOT_APPLICABLE, ["exec.cap"])


@pytest.mark.parametrize(
    ("needs", "said"),
    [(("EXEC-NO-99",), "which is not a requirement"), (("A-1",), "needs itself")],
)
def test_a_wrong_need_is_refused(needs: tuple[str, ...], said: str) -> None:
    one = Requirement("A-1", "MUST", "contract", "", "", "1.0", "exec", "", needs=needs)
    with pytest.raises(UsageError, match=said):
        requirements._check_needs({"A-1": one})


def test_a_need_of_a_contract_that_is_not_here_is_none() -> None:
    one = Requirement("A-1", "MUST", "contract", "", "", "1.0", "exec", "", needs=("MODULE-X-01",))
    requirements._check_needs({"A-1": one})


# Applicable requirements ---------------------------------------------------------------------


def test_not_applicable_requirements_are_in_no_fraction() -> None:
    found = tree([record(MUST), record(CAPPED, NotApplicable.without("exec.cap"))])
    assert found.of("contract", "MUST") == (1, 1)
    assert found.of("hardened", "MUST") == (0, 0)
    assert found.not_applicable() == {"exec.cap": [CAPPED]}


def test_a_contract_that_is_not_declared_does_not_apply() -> None:
    found = tree([record(MUST)], capabilities=["exec"], contracts=["exec", "policy"])
    assert found.incomplete(False) == "no MUST of policy was decided"


# The exit status -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("why", "code"),
    [
        (None, 0),
        (NotMeasured("the machine was late"), 3),
        (Blocked([HARDENED], "it is broken"), 3),
        (ROOT_NEEDED, 0),
    ],
)
def test_a_must_that_was_not_measured_makes_a_run_incomplete(
    why: Exception | None, code: int
) -> None:
    """A host that lacks a feature does not make the run incomplete.

    Hardened requirements count only if their profile is selected.
    """
    assert tree([record(MUST), record(OTHER_MUST, why)]).exit_code() == code
    assert tree([record(MUST), record(HARDENED, why)]).exit_code() == 0
    for profile in ("hardened", "all"):
        found = tree([record(MUST), record(HARDENED, why)], profile=profile)
        assert found.exit_code() == code


@pytest.mark.parametrize(
    ("name", "verdict", "code"),
    [
        (HARDENED, Verdict.ESCAPED, 1),
        (HARDENED, Verdict.CONTRADICTION, 1),
        (HARDENED, Verdict.FAILS, 0),
        (SHOULD, Verdict.ESCAPED, 0),
    ],
)
def test_an_escape_against_a_must_counts_in_each_profile(
    name: str, verdict: Verdict, code: int
) -> None:
    assert tree([record(MUST), record(name, failed(verdict=verdict))]).exit_code() == code


def test_a_reason_other_than_the_host_makes_a_run_incomplete() -> None:
    reasons = [
        record(f"{OTHER_MUST}/one", ROOT_NEEDED),
        record(f"{OTHER_MUST}/two", NotMeasured("late")),
    ]
    found = tree([record(MUST), *reasons])
    assert (found.exit_code(), of(found, OTHER_MUST).reason) == (3, "late")


@pytest.mark.parametrize("name", [MUST, HARDENED, SHOULD])
@pytest.mark.parametrize(
    ("why", "code"),
    [(None, 0), (failed(), 1), (NotMeasured("late"), 3), (ROOT_NEEDED, 3)],
)
def test_a_requirement_selected_by_id_counts_at_any_level(
    name: str, why: Exception | None, code: int
) -> None:
    assert tree([record(name, why)], asked=[name]).exit_code() == code


def test_unselected_requirements_do_not_count() -> None:
    """A selected test may also decide requirements that are not selected; those do not count."""
    found = tree([record(HARDENED), record(MUST, failed())], asked=[HARDENED])
    assert found.exit_code() == 0


@pytest.mark.parametrize(("narrowed", "code"), [(True, 0), (False, 3)])
def test_a_part_of_a_contract_may_have_no_must(narrowed: bool, code: int) -> None:
    assert tree([record(SHOULD)], narrowed=narrowed).exit_code() == code


@pytest.mark.turns(10)
@pytest.mark.parametrize(
    ("verb", "shim", "code"),
    [
        (("repro",), FAKE, 1),
        (("repro", "--bisect"), FAKE, 1),
        (("run",), FAKE, 1),
        (("repro",), PYTHON_IMPLEMENTATION, 0),
    ],
)
def test_a_hardened_must_that_fails_is_exit_1_by_its_id(
    verb: tuple[str, ...], shim: object, code: int
) -> None:
    words = f"{shim} honest" if shim is FAKE else str(shim)
    done = boxspec(*verb, "EXEC-SPAWN-07", "--shim", words)
    assert done.returncode == code, done.stdout + done.stderr
    assert f"· exit {code}" in done.stdout
    # The output shows the request with the wrong answer, not the correct one next to it.
    shown = " ".join(done.stdout.split())
    assert ('[["GOOD", "1"], ["", "x"]]' in shown) is (code == 1)


def test_a_failure_is_about_the_answer_whose_part_is_wrong() -> None:
    refused, allowed = (Answer({}).of({"op": name}) for name in ("refused", "allowed"))
    got = (AnswerText("exit 0", refused), False, AnswerText("exit 0", allowed))
    for wanted, asked in (
        (("refusal", False, "exit 0"), refused.message),
        (("exit 0", False, "exit 1"), allowed.message),
        (("exit 0", True, "exit 0"), None),
    ):
        with pytest.raises(Failure) as why:
            expect("both", got, wanted)
        assert why.value.asked is asked


def test_a_bisection_skips_undecided_results() -> None:
    honest = ("--shim", f"{FAKE} honest")
    done = boxspec("repro", "--bisect", "EXEC-CAP-01", *honest)
    assert done.returncode == 125, done.stdout + done.stderr
    assert "EXEC-CAP-01 is not-applicable: the shim does not declare exec.cap" in done.stdout


@pytest.mark.parametrize(
    "words",
    [("--shim", "./not-built"), ("--no-such-flag",), ("--profile", "hardened"), ("EXEC-NO-99",)],
    ids=" ".join,
)
def test_a_bisection_skips_results_without_a_verdict(words: tuple[str, ...]) -> None:
    done = boxspec("repro", "--bisect", "EXEC-TEXT-01", "--shim", f"{FAKE} honest", *words)
    assert (done.returncode, done.stderr.count("\n")) == (125, 1), done.stdout + done.stderr


def test_a_verbose_run_names_the_implementation_before_its_tests() -> None:
    done = boxspec("run", "-v", "EXEC-TEXT-02", "--shim", f"{FAKE} honest")
    # On a busy machine there are lines about the progress, too.
    words = [line.split()[0] for line in done.stdout.splitlines() if line]
    assert words[0] == "boxspec"
    assert words.index("judging") < words.index("conforms")


def test_an_expression_does_not_deselect_tests_of_an_id() -> None:
    ids = ("EXEC-TEXT-03", "EXEC-ENV-02")
    done = boxspec("repro", *ids, "-k", "nothing_is_trimmed", "--shim", f"{FAKE} honest")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "EXEC-ENV-02 is not-measured: no test of it ran" in done.stdout


@pytest.mark.turns(10)
def test_several_ids_can_be_selected() -> None:
    ids = ("EXEC-ENV-02", "exec-text-01")
    done = boxspec("repro", *ids, "--shim", f"{FAKE} honest")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\nPASS  2 of 2 requirements" in done.stdout


def test_an_outcome_is_plain_text_in_a_result() -> None:
    told = AnswerText("no exit code", Answer(None))
    made = Record("x", ["EXEC-KILL-01"], evidence={"outcome": told})
    assert made.to_json()["evidence"] == {"outcome": "no exit code"}


def test_declared_and_undeclared_escapes_are_distinguished() -> None:
    made = Record("test_x.py::test_x", ["BACKEND-META-01"])
    made.set_verdict(
        Declared("fs-metadata", "partial", "w_chmod: changed: out/file", "no call for it")
    )
    assert made.verdict is Verdict.NOT_APPLICABLE
    assert (made.declared, made.escaped) == ("partial", "w_chmod: changed: out/file")
    assert Record.from_json(made.to_json()) == made
