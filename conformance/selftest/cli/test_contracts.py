"""Tests of the contracts that a run judges: the named ones, or those that the shim declares."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from boxspec.subject.contract import names
from selftest.tools import FAKE, FEW_TEXTS, RESULT_SCHEMA, Done, boxspec

pytestmark = pytest.mark.turns(6)

LITERAL, HONEST, COMPILING = (f"{FAKE} {name}" for name in ("literal", "honest", "compiling"))
# Options that select a few tests of each contract.
FEW = f"{FEW_TEXTS} or test_warn or test_scratch"


@cache
def judged(folder: Path, *words: str) -> tuple[Done, dict[str, Any]]:
    file = folder / "result.json"
    done = boxspec("run", *words, "--json", file)
    assert done.returncode != 2, done.stderr
    return done, json.loads(file.read_text())


@pytest.mark.turns(10)
@pytest.mark.long
@pytest.mark.parametrize(
    ("shim", "declared"),
    [(LITERAL, "policy"), (HONEST, "exec"), (COMPILING, "sbpl")],
)
def test_without_a_name_those_are_judged_that_the_shim_declares(
    shim: str, declared: str, tmp_path: Path
) -> None:
    done, tree = judged(tmp_path, "--shim", shim, "-k", FEW)
    assert tree["selection"]["contracts"] == [declared]
    others = [name for name in names() if name != declared]
    assert tree["selection"]["not_declared"] == others
    assert f" · implements {declared}\n" in done.stdout
    assert {each["id"].split("-")[0].lower() for each in tree["requirements"]} == {declared}
    assert all(f"/{declared}/" in each["id"] for each in tree["tests"])
    assert list(tree["summary"]["contracts"]) == [declared]


@pytest.mark.parametrize(
    ("shim", "other"), [(LITERAL, "exec"), (HONEST, "policy"), (HONEST, "sbpl")]
)
def test_a_named_contract_that_is_not_declared_is_incomplete(
    shim: str, other: str, tmp_path: Path
) -> None:
    done, tree = judged(tmp_path, "--shim", shim, "--contract", other, "-k", FEW)
    assert done.returncode == 3, done.stdout
    assert {each["verdict"] for each in tree["requirements"]} == {"not-applicable"}
    assert f"no MUST of {other} was decided" in done.stdout


def test_both_are_counted_apart_and_together(tmp_path: Path) -> None:
    words = ("--shim", LITERAL, "--contract", "exec", "--contract", "policy", "-k", FEW)
    done, tree = judged(tmp_path, *words)
    schema = json.loads(RESULT_SCHEMA.read_text())
    Draft202012Validator(schema).validate(tree)
    summary = tree["summary"]
    assert list(summary["contracts"]) == ["exec", "policy"]
    for profile in ("contract", "hardened"):
        for level in ("must", "should", "may"):
            for count in ("conforms", "of"):
                each = [part[profile][level][count] for part in summary["contracts"].values()]
                assert sum(each) == summary[profile][level][count]
    table = done.stdout[done.stdout.index("\ncontract ") :].splitlines()
    assert [line.split()[0] for line in table[1:4]] == ["contract", "exec", "policy"]
    hardened = summary["contracts"]["policy"]["hardened"]["must"]
    assert table[3].split()[2] == f"{hardened['conforms']}/{hardened['of']}"


def test_a_topic_is_all_that_is_judged(tmp_path: Path) -> None:
    _, tree = judged(tmp_path, "--shim", LITERAL, "--topic", "POLICY-AUDIT")
    assert [each["id"] for each in tree["requirements"]] == [
        "POLICY-AUDIT-01",
        "POLICY-AUDIT-02",
        "POLICY-AUDIT-03",
    ]
    assert {each["verdict"] for each in tree["requirements"]} == {"not-applicable"}


def test_an_undeclared_capability_removes_only_tests_that_need_it(tmp_path: Path) -> None:
    """A shim that does not support YAML gets only the JSON vectors of a requirement, and these
    decide the verdict."""
    _, tree = judged(tmp_path, "--shim", LITERAL, "--topic", "POLICY-FILE")
    verdicts = {each["id"]: each["verdict"] for each in tree["requirements"]}
    assert verdicts["POLICY-FILE-15"] == "not-applicable"
    assert verdicts["POLICY-FILE-01"] != "not-applicable"


def test_globs_are_judged_without_policies(tmp_path: Path) -> None:
    words = ("--contract", "policy", "--topic", "POLICY-GLOB", "--topic", "POLICY-AUDIT")
    _, tree = judged(tmp_path, "--shim", f"{FAKE} only-globs", *words)
    of_topic = {
        topic: {each["verdict"] for each in tree["requirements"] if topic in each["id"]}
        for topic in ("GLOB", "AUDIT")
    }
    assert of_topic["AUDIT"] == {"not-applicable"}
    assert "not-applicable" not in of_topic["GLOB"]
