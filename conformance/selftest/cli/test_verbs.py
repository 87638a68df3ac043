"""Tests of all verbs except run, and of wrong calls of each verb: output and exit status."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from selftest.tools import CONFORMANCE, CONTRACTS, FAKE, REFERENCE, Done, boxspec, requirements, run

pytestmark = pytest.mark.turns(6)


@cache
def listed() -> dict[str, Any]:
    done = boxspec("list", "--json")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def from_yaml() -> Iterator[dict[str, Any]]:
    for contract in sorted(CONTRACTS):
        yield from requirements(contract)


def refused(done: Done) -> str:
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith(("boxspec: ", "boxspec "))
    return done.stderr


def test_list_names_each_requirement_with_its_words() -> None:
    fields = ("id", "level", "profile", "source", "since", "testable")
    assert [{name: each[name] for name in fields} for each in listed()["requirements"]] == [
        {name: each[name] for name in fields} for each in from_yaml()
    ]


def test_each_testable_requirement_has_a_test_and_no_other_has() -> None:
    without = {each["id"] for each in listed()["requirements"] if not each["tests"]}
    assert without == {each["id"] for each in from_yaml() if each["testable"] is not True}


def test_each_pitfall_has_a_test_or_a_reason() -> None:
    rows = listed()["pitfalls"]
    assert rows != []
    assert [row["id"] for row in rows if not row["tests"] and not row["why_not"]] == []


def test_each_pitfall_that_a_requirement_cites_is_a_row() -> None:
    rows = {row["id"] for row in listed()["pitfalls"]}
    cited = {
        word.strip(" ,;")
        for each in from_yaml()
        for part in each["source"].split(";")
        if part.strip().startswith("pitfall")
        for word in part.replace("pitfalls", "").replace("pitfall", "").split(",")
    }
    assert cited <= rows


def test_list_is_one_line_a_requirement_and_a_sum() -> None:
    lines = boxspec("list").stdout.splitlines()
    ids = [each["id"] for each in from_yaml()]
    assert [line.split()[0] for line in lines[:-1]] == ids
    assert lines[-1].startswith(f"{len(ids)} requirements")


@pytest.mark.parametrize("contract", CONTRACTS)
def test_list_takes_one_contract(contract: str) -> None:
    lines = boxspec("list", "--contract", contract).stdout.splitlines()[:-1]
    found = requirements(contract)
    assert [line.split()[0] for line in lines] == [each["id"] for each in found]


def test_list_takes_one_profile() -> None:
    lines = boxspec("list", "--profile", "hardened").stdout.splitlines()[:-1]
    hardened = [each["id"] for each in from_yaml() if each["profile"] == "hardened"]
    assert [line.split()[0] for line in lines] == hardened


def test_explain_shows_clause_source_and_tests() -> None:
    done = boxspec("explain", "EXEC-TIMEOUT-01")
    assert done.returncode == 0
    wanted = next(each for each in listed()["requirements"] if each["id"] == "EXEC-TIMEOUT-01")
    for shown in (wanted["clause"], wanted["source"], *wanted["tests"]):
        assert shown in done.stdout


def test_explain_shows_why_a_requirement_is_not_tested() -> None:
    each = next(each for each in from_yaml() if each["testable"] is not True)
    assert each["testable"] in boxspec("explain", each["id"]).stdout


def test_doctor_finds_the_needs_of_a_run() -> None:
    done = boxspec("doctor")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {line.split()[0] for line in done.stdout.splitlines()} <= {"has", "lacks"}


def test_doctor_names_each_feature_that_a_test_may_miss() -> None:
    calls = re.compile(r'HostLacks\(\s*"([^"]+)"')
    features = {
        name for path in CONFORMANCE.rglob("*.py") for name in calls.findall(path.read_text())
    }
    said = [line.partition(" ")[2].strip() for line in boxspec("doctor").stdout.splitlines()]
    assert {"root", "other users", "sandbox-exec"} <= features
    assert {name for name in features if not any(each.startswith(name) for each in said)} == set()


def test_doctor_names_missing_features(tmp_path: Path) -> None:
    done = boxspec("doctor", env={"BOXSPEC_PROGRAMS": str(tmp_path)})
    assert done.returncode == 2
    assert f"LACKS  {tmp_path}" in done.stdout


def test_a_closed_stdout_ends_a_verb_as_its_signal_would() -> None:
    line = f"{sys.executable} -P -m boxspec list --topics | true; echo ${{PIPESTATUS[0]}}"
    done = run(["bash", "-c", line], env={**os.environ, "PYTHONPATH": str(CONFORMANCE)})
    assert (done.stdout, done.stderr) == ("141\n", "")


WRONG_CALLS = [
    ([], "boxspec: VERB: is missing (boxspec --help lists the verbs)"),
    (["clean", "--forc"], "boxspec clean --forc: no such option (near it: --force"),
    (["judge"], "boxspec judge: no such verb"),
    (["rnu"], "near it: run"),
    (["--versoin"], "near it: --version"),
    (["run", "--jsno", "a.json"], "boxspec run --jsno: no such option (near it: --json"),
    (["run", "--topci=EXEC-KILL"], "near it: --topic"),
    (["run", "./mine"], "./mine: no such requirement (if it is a program: --shim ./mine)"),
    (
        ["verify", "bwrap", "--ro-bind"],
        "bwrap: is no file with expectations (for a command, write boxspec verify -- bwrap"
        " --ro-bind)",
    ),
    (["run", "exec-kill"], "a topic, not a requirement (its requirements are EXEC-KILL-01 to"),
    (["run", "exec"], "a contract, not a requirement (--contract exec takes all its requirements)"),
    (["run", "EXEC-KILL-01", "--shard", "4"], "(boxspec run --help lists its options)"),
    (["report", "a.json", "--htlm", "b.html"], "near it: --html"),
    (["products", "matrix", "--restuls", "a"], "near it: --results"),
    (["doctor", "here"], "unexpected argument: here"),
    (["run", "--shim"], "--shim"),
    (["run", "--shim", ""], "--shim"),
    (["run", "--shim", "'open quote"], "open quote"),
    (["run", "--shim", "./no-such-shim"], "./no-such-shim"),
    (["run", "--shim", "no-such-shim"], "no-such-shim"),
    (["run", "--shim", "/usr"], "/usr"),
    (["run", "--contract", "nothing"], "nothing"),
    (["run", "--contract", "exec,sbpl"], "(write --contract exec --contract sbpl)"),
    (["run", "--profile", "strict"], "strict"),
    (["run", "--repeat", "0"], "--repeat"),
    (["run", "--focus", "EXEC-NOTHING"], "EXEC-NOTHING"),
    (["run", "--topic", "POLICY-NOTHING"], "POLICY-NOTHING"),
    (["run", "--topic", "policy-globs"], "near it: POLICY-GLOB"),
    (["explain", "EXEC-KILL-1"], "near it: EXEC-KILL-01"),
    (["run", "EXEC-NOTHING-01"], "EXEC-NOTHING-01"),
    (["run", "EXEC-NOTHING-01"], "EXEC-NOTHING-01"),
    (
        ["repro", "EXEC-TEXT-01", "EXEC-SPAWN-07", "--profile", "contract"],
        "leaves out EXEC-SPAWN-07, which is of hardened, not of --profile contract",
    ),
    (
        ["run", "EXEC-TEXT-01", "EXEC-KILL-14"],
        "leaves out EXEC-KILL-14, which is not testable: ",
    ),
    (
        ["repro", "exec-text-01", "POLICY-GLOB-11", "POLICY-FOLD-01", "--contract", "exec"],
        "leaves out POLICY-GLOB-11, which is of policy, not of --contract exec; POLICY-FOLD-01, ",
    ),
    (
        ["repro", "EXEC-TEXT-01", "EXEC-ENV-02", "--topic", "EXEC-TEXT"],
        "leaves out EXEC-ENV-02, which is of EXEC-ENV, not of --topic EXEC-TEXT",
    ),
    (["run", "--seed", "-1"], "--seed"),
    (["run", "--known", "no-such.toml"], "no-such.toml"),
    (["run", "--json", "no-such-folder/result.json"], "no-such-folder/result.json"),
    (["run", "--junit", "/"], "--junit /"),
    (["run", "-k", "no_test_has_this_name"], "no test"),
    (["smoke", "--shim", "./no-such-shim"], "./no-such-shim"),
    (["explain"], "ID"),
    (["explain", "EXEC-TIMEOUT-99"], "EXEC-TIMEOUT-"),
    (["repro", "EXEC-NOTHING-01"], "EXEC-NOTHING-01"),
    (["dev", "pages", "--take"], "boxspec dev pages --take"),
    (["dev", "pagse"], "near it: pages"),
    (["dev"], "no command is given"),
]


@pytest.mark.parametrize(
    ("words", "named"), WRONG_CALLS, ids=[" ".join(words) or "nothing" for words, _ in WRONG_CALLS]
)
def test_a_wrong_call_is_one_line_and_exit_2(words: list[str], named: str, tmp_path: Path) -> None:
    shim = [] if "--shim" in words or words[:1] != ["run"] else ["--shim", f"{FAKE} honest"]
    said = boxspec(*words, *shim, cwd=tmp_path)
    if words[-1:] == ["no_test_has_this_name"]:
        # pytest detects this mistake only when it collects the tests, after the run has printed the
        # selection.
        said.stdout = ""
    assert named in refused(said)


def test_an_old_result_survives_a_run_that_cannot_start(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text("old")
    refused(boxspec("run", "--shim", "./none", "--json", "result.json", cwd=tmp_path))
    assert (tmp_path / "result.json").read_text() == "old"


def test_the_pytest_settings_of_the_judged_project_are_not_used(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("raise SystemExit('a file beside the shim was run')\n")
    (tmp_path / "shim").symlink_to(REFERENCE)
    done = boxspec("run", "--shim", tmp_path / "shim", "EXEC-TEXT-01")
    assert done.returncode == 0, done.stdout + done.stderr
