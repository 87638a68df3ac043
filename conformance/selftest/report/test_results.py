"""Tests of the outputs of a run: one result tree as JSON, JUnit and text, and no leftovers."""

from __future__ import annotations

import json
import os
import re
import shlex
import uuid
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator, meta

from boxspec.judge.repro import RunFlags, repro_command
from selftest.tools import FAKE, FEW_TEXTS, RESULT_SCHEMA, Done, boxspec, can_mount

pytestmark = pytest.mark.turns(6)

# Tests of requirements that the fake meets, that it violates, and that do not apply.
SELECTION = f"{FEW_TEXTS} or test_cap or annotation_is_joined or childs_sigterm_comes"


class Judged:
    """One run of a shim that violates a few requirements, with all its outputs."""

    def __init__(self, folder: Path) -> None:
        self.marker = f"BOXSPEC_SELFTEST_{uuid.uuid4().hex}"
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.done: Done = boxspec(
            *("run", "--shim", f"{FAKE} honest", "-k", SELECTION),
            *("--json", folder / "result.json", "--junit", folder / "junit.xml"),
            env={self.marker: "1", "TMPDIR": str(self.temporary), "CI": ""},
        )
        self.result: dict[str, Any] = json.loads((folder / "result.json").read_text())
        self.junit = ET.parse(folder / "junit.xml").getroot()


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    return Judged(tmp_path_factory.mktemp("judged"))


@pytest.mark.turns(10)
def test_the_exit_status_follows_the_verdicts(judged: Judged) -> None:
    broken = [
        each["id"]
        for each in judged.result["requirements"]
        if (each["level"], each["profile"], each["verdict"]) == ("MUST", "contract", "fails")
    ]
    assert judged.done.returncode == (1 if broken else 0), judged.done.stderr


def test_the_result_follows_its_schema(judged: Judged) -> None:
    schema = json.loads(RESULT_SCHEMA.read_text())
    meta.validate(schema)
    Draft202012Validator(schema).validate(judged.result)


def test_a_result_that_is_not_one_is_refused(judged: Judged) -> None:
    schema = Draft202012Validator(json.loads(RESULT_SCHEMA.read_text()))
    for name in ("schema", "summary", "requirements", "tests"):
        assert not schema.is_valid({k: v for k, v in judged.result.items() if k != name})


def test_the_summary_is_counted_from_the_requirements(judged: Judged) -> None:
    requirements = judged.result["requirements"]
    summary = judged.result["summary"]
    assert summary["verdicts"] == Counter(each["verdict"] for each in requirements)
    for profile in ("contract", "hardened"):
        for level in ("must", "should", "may"):
            mine = [
                each["verdict"]
                for each in requirements
                if each["profile"] == profile
                and each["level"] == level.upper()
                and each["verdict"] != "not-applicable"
            ]
            expected = {"conforms": mine.count("conforms"), "of": len(mine)}
            assert summary[profile][level] == expected


def test_undeclared_features_are_listed_by_capability(judged: Judged) -> None:
    caps = [each for each in judged.result["requirements"] if each["id"].startswith("EXEC-CAP-")]
    assert {each["verdict"] for each in caps} == {"not-applicable"}
    ids = [each["id"] for each in caps]
    # Tests of other topics also need the capability.
    listed = judged.result["summary"]["not_applicable"]["exec.cap"]
    assert [each for each in listed if each.startswith("EXEC-CAP-")] == ids


def test_each_requirement_has_the_worst_verdict_of_its_tests(judged: Judged) -> None:
    of_test = {each["id"]: each["verdict"] for each in judged.result["tests"]}
    for each in judged.result["requirements"]:
        verdicts = {of_test[test] for test in each["tests"]}
        if each["verdict"] == "conforms":
            assert verdicts == {"conforms"}
        elif each["verdict"] == "fails":
            assert "fails" in verdicts


def test_the_table_has_the_counts_of_the_result(judged: Judged) -> None:
    counts = judged.result["summary"]["contracts"]["exec"]
    row = re.search(r"^exec +(.*)$", judged.done.stdout, re.M)
    assert row is not None
    hardened = counts["hardened"]["must"]
    required = counts["contract"]["must"]
    parts = [f"{each['conforms']}/{each['of']}" for each in (required, hardened)]
    assert row[1].split()[:2] == parts
    assert f"{counts['verdicts']['not-applicable']} not declared" in judged.done.stdout


def test_a_failure_block_has_its_parts_in_order(judged: Judged) -> None:
    order = ["ran", "checked", "expected", "actual", "repeat"]
    shown = re.findall(r"^FAIL EXEC-.*\n(?: {5}.*\n)+", judged.done.stdout, re.M)
    assert shown != []
    for block in shown:
        parts = re.findall(r"^ {5}([a-z]+) ", block, re.M)
        assert [part for part in parts if part in order] == order


def test_each_failed_requirement_is_shown_and_listed(judged: Judged) -> None:
    failed = [each["id"] for each in judged.result["requirements"] if each["verdict"] == "fails"]
    shown = re.findall(r"^(?:FAIL|    ) (EXEC-\S+) ", judged.done.stdout, re.M)
    assert sorted(shown) == sorted(failed) != []


def test_a_test_that_failed_took_as_long_as_its_shim(judged: Judged) -> None:
    """The test ran in a thread, at the same time as other tests. The recorded time must be that of
    its own shim only."""
    failed = [each for each in judged.result["tests"] if each["verdict"] == "fails"]
    for each in failed:
        told = re.match(r"exited \d+ after ([0-9.]+) ms", each["evidence"].get("shim", ""))
        assert told is None or each["seconds"] * 1000 >= float(told[1]), each["id"]
    assert [each["id"] for each in failed if "shim" in each["evidence"]] != []


def test_the_folder_of_a_failure_is_kept_and_of_the_others_not(judged: Judged) -> None:
    kept = {each["folder"] for each in judged.result["tests"] if each["verdict"] == "fails"}
    assert all(Path(folder).is_dir() for folder in kept)
    there = {
        str(folder)
        for root in judged.temporary.glob("boxspec-*")
        for folder in root.iterdir()
        if folder.is_dir()
    }
    assert there == kept


def test_no_process_of_the_run_is_left(judged: Judged) -> None:
    assert with_environment(judged.marker) == []


def with_environment(marker: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal() or int(entry.name) == os.getpid():
            continue
        try:
            if marker.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def test_junit_has_a_case_for_each_test(judged: Judged) -> None:
    assert judged.junit.tag == "testsuites"
    cases = list(judged.junit.iter("testcase"))
    assert len(cases) == len(judged.result["tests"]) == int(judged.junit.attrib["tests"])


def test_junit_counts_failures_as_the_result_does(judged: Judged) -> None:
    verdicts = Counter(each["verdict"] for each in judged.result["tests"])
    assert int(judged.junit.attrib["failures"]) == verdicts["fails"]
    assert len(list(judged.junit.iter("failure"))) == verdicts["fails"]
    skipped = verdicts["not-applicable"] + verdicts["not-measured"]
    assert int(judged.junit.attrib["skipped"]) == skipped


@pytest.mark.turns(10)
def test_a_conforming_run_leaves_no_file(tmp_path: Path) -> None:
    done = boxspec(
        *("run", "--shim", f"{FAKE} honest", "-k", FEW_TEXTS), env={"TMPDIR": str(tmp_path)}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.turns(10)
def test_undeclared_capabilities_make_a_run_incomplete_on_request() -> None:
    done = boxspec("run", "--shim", f"{FAKE} honest", "-k", "test_cap", "--require-complete")
    assert done.returncode == 3, done.stdout + done.stderr


def test_no_colour_reaches_a_pipe(judged: Judged) -> None:
    assert "\x1b" not in judged.done.stdout


def test_the_repro_command_has_all_options_of_the_verdict() -> None:
    how = RunFlags("./a shim", "landlock", isolate=True, stress=True, seed=7, busy=8)
    assert repro_command(["EXEC-CAP-01"], how) == (
        "./ci/boxspec repro --isolate --stress --shim './a shim' --backend landlock --seed 7 "
        "--busy 8 EXEC-CAP-01"
    )
    assert repro_command([], RunFlags()) == "./ci/boxspec repro"


def test_each_output_has_the_repro_command_of_the_run(tmp_path: Path) -> None:
    isolated = ["--isolate"] * can_mount()
    flags = [*isolated, "--stress", "--shim", f"{FAKE} honest", "--seed", "7", "--busy", "1"]
    broken, later = "EXEC-TIMEOUT-09", tmp_path / "later.md"
    file = tmp_path / "result.json"
    words = (broken, "-k", "annotation_is_joined and text")
    done = boxspec("run", *flags, *words, "--json", file)
    assert done.returncode == 1, done.stdout + done.stderr
    again = shlex.join(["./ci/boxspec", "repro", *flags, broken])
    assert {each["repro"] for each in json.loads(file.read_text())["tests"]} == {again}
    assert f"     repeat    {again}\n" in done.stdout
    assert boxspec("report", file, "--md", later).returncode == 0
    assert again in later.read_text()
