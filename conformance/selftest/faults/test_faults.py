"""Tests of the faults: rules for the list, and the output of `boxspec dev faults`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from boxspec.cli.dev.faults import preload
from boxspec.errors import UsageError
from boxspec.faults import resume
from boxspec.faults.fault import Fault, catalogue
from boxspec.faults.outcome import Outcome
from selftest.tools import CONTRACTS, PYTHON_IMPLEMENTATION, ROOT, Done, boxspec, requirements, run

FAULTS = ROOT / "conformance" / "shims" / "faults" / "shim.py"
# Requirements that are measured only with the real sandbox-exec or on btrfs, so that no fault can
# be detected here.
ELSEWHERE = {"SBPL-MAC-01", "BACKEND-WRITE-08"}


@cache
def faults() -> list[dict[str, Any]]:
    done = run([sys.executable, "-I", "-S", FAULTS, "--list"])
    assert done.returncode == 0, done.stderr
    listed: list[dict[str, Any]] = json.loads(done.stdout)
    return listed


# Each fault gets its own child process, because a fault cannot be removed from a process.
INSTALL_EACH = """
import os, sys
sys.path.insert(0, sys.argv[1])
from faults import shim
shim.catalogue()
for fault in shim.FAULTS.values():
    if os.fork() == 0:
        fault.install()
        os._exit(0)
    if os.wait()[1]:
        print(fault.name)
"""


def test_each_fault_finds_what_it_replaces() -> None:
    done = run([sys.executable, "-I", "-S", "-c", INSTALL_EACH, FAULTS.parent.parent])
    assert done.stdout == "", done.stderr


REPLACE_ONE = """
import sys
sys.path.insert(0, sys.argv[1])
from faults.registry import replaces

class Twin:
    def look(self, path):
        return path

@replaces(Twin)
def look(original, self{}):
    return original(self, "elsewhere")

print(Twin().look("here"))
"""


@pytest.mark.parametrize(
    ("takes", "works"), [(", path", True), (", *every", True), ("", False), (", path, more", False)]
)
def test_a_fault_has_the_parameters_of_the_function_it_replaces(takes: str, works: bool) -> None:
    code = REPLACE_ONE.format(takes)
    done = run([sys.executable, "-I", "-S", "-c", code, FAULTS.parent.parent])
    assert (done.stdout == "elsewhere\n") == works
    assert ("look: takes other arguments than the original" in done.stderr) != works


@cache
def by_id(contract: str) -> dict[str, dict[str, Any]]:
    return {each["id"]: each for each in requirements(contract)}


def faults_of_policy() -> list[str]:
    return [
        each["id"] for each in faults() if (each["contract"], each["role"]) == ("policy", "fault")
    ]


def refused(done: Done) -> str:
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def test_each_fault_has_a_name_of_its_own() -> None:
    names = [each["id"] for each in faults()]
    assert sorted(set(names)) == sorted(names)


def test_each_fault_names_the_requirement_it_breaks() -> None:
    strange = {
        each["id"]
        for each in faults()
        if each["role"] == "fault"
        and by_id(each["contract"]).get(each["requirement"], {}).get("testable") is not True
    }
    assert strange == set()


def test_each_fault_names_the_mistake_and_its_source() -> None:
    assert [each["id"] for each in faults() if not (each["mistake"] and each["seen"])] == []


@pytest.mark.parametrize("contract", sorted(CONTRACTS))
def test_each_testable_requirement_has_a_fault(contract: str) -> None:
    testable = {name for name, each in by_id(contract).items() if each["testable"] is True}
    assert testable - ELSEWHERE - {each["requirement"] for each in faults()} == set()


@pytest.mark.parametrize("contract", sorted(CONTRACTS))
def test_there_is_a_control_and_a_noop(contract: str) -> None:
    roles = {each["role"] for each in faults() if each["contract"] == contract}
    assert {"control", "noop"} <= roles


def test_a_fault_belongs_to_the_contract_of_its_requirement() -> None:
    strange = [
        each["id"]
        for each in faults()
        if each["requirement"] and each["requirement"].split("-")[0].lower() != each["contract"]
    ]
    assert strange == []


def answer(shim: list[str | Path], folder: Path) -> dict[str, Any]:
    request, response = folder / "request", folder / "response"
    request.write_text(
        json.dumps({"id": "1", "op": "exec.run", "request": {"program": "echo", "args": ["hi"]}})
    )
    response.unlink(missing_ok=True)
    done = run([sys.executable, "-I", "-S", *shim, "run", request, response], within_s=20)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    answered: dict[str, Any] = json.loads(response.read_text())
    return answered


@pytest.mark.parametrize("name", [each["id"] for each in faults()])
def test_a_fault_is_a_shim_that_works_otherwise(name: str, tmp_path: Path) -> None:
    got = answer([FAULTS, "--fault", name], tmp_path)["result"]
    unchanged = answer([PYTHON_IMPLEMENTATION], tmp_path)["result"]
    assert (got["stdout"], got["success"]) == (unchanged["stdout"], unchanged["success"])


@pytest.mark.parametrize("name", preload(CONTRACTS))
def test_each_preloaded_module_exists(name: str) -> None:
    """The fork server ignores modules that it does not find, so a wrong name would go unnoticed."""
    assert find_spec(name) is not None


def test_an_unknown_fault_is_refused() -> None:
    done = run([sys.executable, "-I", "-S", FAULTS, "--fault", "exec-kill.nobody", "serve"])
    assert "exec-kill.nobody" in refused(done)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["--only", "exec-kill.nobody"], "exec-kill.nobody"),
        (["--only", "exec-env.keeps-homes"], "near it: exec-env.keeps-home"),
        (["-k", "nothing-of-that-kind"], "no fault matches"),
        (["-k", "kill and"], "-k"),
        (["-j", "0"], "'0' is not a number"),
        (["-j", "many"], "many"),
        (["--contract", "nobody"], "nobody"),
        (["--contract", "policy", "--only", "exec-env.keeps-home"], "no fault matches"),
        (["--loud"], "--loud"),
        (["--json", "/no/such/folder/x"], "/no/such/folder/x"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_call_is_one_clear_line(words: list[str], names: str) -> None:
    assert names in refused(boxspec("dev", "faults", *words))


def test_a_detected_fault_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "matrix.json"
    done = boxspec(
        "dev", "faults", "--only", "exec-env.keeps-home", "--scope", "own", "--json", file
    )
    assert done.returncode == 0, done.stdout + done.stderr
    tree = json.loads(file.read_text())
    (only,) = tree["faults"]
    told = {name: only[name] for name in ("id", "contract", "requirement", "role", "caught")}
    assert told == {
        "id": "exec-env.keeps-home",
        "contract": "exec",
        "requirement": "EXEC-ENV-02",
        "role": "fault",
        "caught": True,
    }
    assert "EXEC-ENV-02" in only["caught_by"]
    assert {k: tree["summary"][k] for k in ("faults", "caught", "by_named_requirement")} == {
        "faults": 1,
        "caught": 1,
        "by_named_requirement": 1,
    }
    assert "faults 1 · caught 1 · by the requirement they break 1" in done.stdout


def test_finished_results_survive_an_interrupt(tmp_path: Path) -> None:
    file = tmp_path / "matrix.json"
    words = ["dev", "faults", "-j", "1", "--scope", "own"]
    words += ["--only", "exec-env.keeps-home", "--only", "exec-kill.never-kills"]
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "boxspec", *words, "--json", str(file)],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 2, out + err
    assert "exec-env.keeps-home" in first
    assert "not finished 1" in out
    told = [each["id"] for each in json.loads(file.read_text())["faults"]]
    assert told == ["exec-env.keeps-home"]


def row(fault: Fault, **more: Any) -> dict[str, Any]:
    return {**Outcome(fault, "focus", [str(fault.requirement)]).to_json(), **more}


def test_only_detected_faults_are_resumed(tmp_path: Path) -> None:
    first, *others = [each for each in catalogue() if each.contract == "policy" and each.topic][:4]
    rows = [
        row(first),
        row(others[0], caught_by=[]),
        row(others[1], mistake="another of its name"),
        row(others[2], problem="not done after 900 s"),
    ]
    file = tmp_path / "matrix.json"
    file.write_text(json.dumps({"schema": resume.SCHEMA, "scope": "default", "faults": rows}))
    assert [each.fault for each in resume.read(file, [first, *others], "default")] == [first]
    assert resume.read(tmp_path / "none.json", [first], "default") == []
    with pytest.raises(UsageError, match="has no results with the scope named"):
        resume.read(file, [first], "named")


def test_an_interrupted_matrix_is_resumed(tmp_path: Path) -> None:
    file = tmp_path / "matrix.json"
    words = [
        "dev",
        "faults",
        "--scope",
        "named",
        "--json",
        str(file),
        "--only",
        "exec-env.keeps-home",
    ]
    assert boxspec(*words).returncode == 0
    done = boxspec(*words, "--only", "exec-env.sets-pwd", "--resume")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split()[:3] for line in done.stdout.splitlines()][:2] == [
        ["kept", "1", "of"],
        ["caught", "exec-env.sets-pwd", "EXEC-ENV-01"],
    ]
    assert "faults 2 · caught 2" in done.stdout
    assert "has no file to resume from" in refused(boxspec("dev", "faults", "--resume"))


def test_a_fault_of_policy_is_reported() -> None:
    done = boxspec(
        "dev", "faults", "--contract", "policy", "--only", faults_of_policy()[0], "--scope", "own"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "faults 1 · caught 1 · by the requirement they break 1" in done.stdout
