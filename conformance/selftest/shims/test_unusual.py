"""Tests that correct implementations with an unusual design conform in all requirements that apply
to them."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from selftest.tools import FAKE, PYTHON_IMPLEMENTATION, REFERENCE, ROOT, boxspec, run

pytestmark = pytest.mark.turns(6)

HERE = ROOT / "conformance" / "shims" / "unusual"
FAULTY = ROOT / "conformance" / "shims" / "faults" / "shim.py"
LONG = "minutes: set BOXSPEC_LONG=1"
PYTHON = f"{sys.executable} -I -S"


@dataclass
class Judged:
    """The verdicts of a run, by requirement."""

    code: int
    verdicts: dict[str, str]
    said: str

    def all_of(self, *verdicts: str) -> list[str]:
        return sorted(name for name, verdict in self.verdicts.items() if verdict in verdicts)

    @property
    def failing(self) -> list[str]:
        passing = ("conforms", "not-applicable", "not-measured")
        return sorted(name for name, each in self.verdicts.items() if each not in passing)


def judged(shim: str, folder: Path, *words: str) -> Judged:
    file = folder / "result.json"
    done = boxspec("run", "--shim", shim, "--json", file, *words)
    assert file.exists(), done.stdout + done.stderr
    tree: dict[str, Any] = json.loads(file.read_text())
    verdicts = {each["id"]: each["verdict"] for each in tree["requirements"]}
    return Judged(done.returncode, verdicts, done.stdout + done.stderr)


def made_elsewhere(folder: Path) -> str:
    """Return a shim that makes its files in another folder than TMPDIR."""
    place, shim = folder / "elsewhere", folder / "shim"
    place.mkdir()
    shim.write_text(f'#!/bin/sh\nTMPDIR={place} exec {REFERENCE} "$@"\n')
    shim.chmod(0o755)
    return str(shim)


def nested_beside_files(folder: Path) -> str:
    return f"{PYTHON} {FAULTY} --fault module-noop.directories-are-nested-beside-files"


@pytest.mark.parametrize(("made", "away"), [(made_elsewhere, 3), (nested_beside_files, 0)])
def test_where_a_module_has_its_directory_is_its_own_matter(
    made: Callable[[Path], str], away: int, tmp_path: Path
) -> None:
    names = "nothing_was_started or (removed_after_every_end and (value or NonZero))"
    words = ("MODULE-DIR-02", "-k", names, "--json", tmp_path / "result.json")
    done = boxspec("run", "--shim", made(tmp_path), *words)
    assert done.returncode == 0, done.stdout + done.stderr
    tests = json.loads((tmp_path / "result.json").read_text())["tests"]
    assert sorted(each["verdict"] for each in tests) == sorted(
        ["not-applicable"] * away + ["conforms"] * (5 - away)
    )


@pytest.mark.turns(10)
def test_a_text_with_an_unknown_form_conforms_elsewhere(tmp_path: Path) -> None:
    shim = f"{PYTHON} {HERE / 'unknown_form.py'}"
    topics = "test_form or test_modify or test_filter or test_scratch or test_read"
    found = judged(shim, tmp_path, "--contract", "sbpl", "--profile", "all", "-k", topics)
    assert found.failing == ["SBPL-FORM-04"], found.said
    assert found.all_of("not-measured") == [], found.said
    assert re.search(r"\(\?:hosts\|passwd\).*not known", found.said), found.said


@pytest.mark.turns(10)
def test_an_api_of_strings_conforms_but_for_bytes(tmp_path: Path) -> None:
    shim = f"{PYTHON} {HERE / 'strings_only.py'}"
    topics = "test_request or test_env or test_stdin"
    found = judged(shim, tmp_path, "--contract", "exec", "--profile", "contract", "-k", topics)
    assert found.code == 0, found.said
    bytes_ = ["EXEC-ENV-04", "EXEC-REQUEST-07", "EXEC-STDIN-14"]
    assert found.all_of("not-applicable") == bytes_, found.said
    assert "3 not declared" in found.said


TAKES_SIGNALS_OVER = f"""
import runpy, signal, sys
for each in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT):
    signal.signal(each, signal.SIG_DFL)
sys.argv[0] = {str(PYTHON_IMPLEMENTATION)!r}
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.turns(10)
def test_a_runtime_that_handles_signals_at_its_start_is_no_failure(tmp_path: Path) -> None:
    """The runtimes of Go and Node reset these signals, because their callers never ignore them."""
    (tmp_path / "shim.py").write_text(TAKES_SIGNALS_OVER)
    chosen = "automatic_reaping_is_detected or (are_ignored_again and exit)"
    found = judged(f"{PYTHON} {tmp_path / 'shim.py'}", tmp_path, "--profile", "all", "-k", chosen)
    assert found.failing == [], found.said
    assert found.verdicts["EXEC-WAIT-05"] == "not-measured"
    assert "resets SIGCHLD before any run" in " ".join(found.said.split())
    assert found.verdicts["EXEC-SIGNAL-10"] == "conforms"


RETURNS_AT_ONCE = f"""
import runpy, sys
sys.path.insert(0, {str(PYTHON_IMPLEMENTATION.parent)!r})
import exec.run
exec.run.LINGER_NS = 20_000_000
sys.argv[0] = {str(PYTHON_IMPLEMENTATION)!r}
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.turns(10)
def test_a_shim_that_returns_with_its_child_may_ignore_later_signals(tmp_path: Path) -> None:
    """If a process has left the group, a run may last up to a second longer. A shim that returns at
    once has ended when the later signal is sent."""
    (tmp_path / "shim.py").write_text(RETURNS_AT_ONCE)
    words = ("--contract", "exec", "--profile", "all", "-k", "after_the_childs_exit_is_listed")
    found = judged(f"{PYTHON} {tmp_path / 'shim.py'}", tmp_path, *words)
    assert found.verdicts == {"EXEC-SIGNAL-07": "not-measured"}, found.said
    assert "the run ended before the signal could be sent" in found.said


@pytest.mark.turns(10)
def test_an_engine_of_globs_is_judged_only_by_globs(tmp_path: Path) -> None:
    found = judged(f"{PYTHON} {HERE / 'globs_only.py'}", tmp_path)
    assert (found.code, found.failing) == (0, []), found.said
    decided = {name.rsplit("-", 1)[0] for name in found.all_of("conforms")}
    assert decided == {"POLICY-PATH", "POLICY-GLOB", "POLICY-COST"}
    assert "declares no contract" not in found.said


@pytest.mark.turns(10)
def test_fast_wrong_answers_fail_the_glob_tests(tmp_path: Path) -> None:
    found = judged(f"{FAKE} only-globs", tmp_path, "-k", "test_cost or test_glob")
    assert found.verdicts["POLICY-COST-01"] == "conforms", found.said
    assert {"POLICY-GLOB-03", "POLICY-GLOB-11"} <= {*found.failing}, found.said


@pytest.mark.turns(10)
def test_a_yaml_parser_is_judged_by_its_documents(tmp_path: Path) -> None:
    shim = f"{PYTHON} {HERE / 'parser_only.py'}"
    found = judged(shim, tmp_path, "-k", "test_valid or test_warn or test_merge")
    assert (found.code, found.failing) == (0, []), found.said
    decided = {name.rsplit("-", 1)[0] for name in found.all_of("conforms")}
    assert decided == {"POLICY-VALID", "POLICY-WARN", "POLICY-MERGE"}
    whole = {name for name in found.verdicts if name.startswith("POLICY-VALID")}
    assert whole <= {*found.all_of("conforms")}, found.said


@pytest.mark.turns(10)
@pytest.mark.parametrize(
    ("contract", "topics"),
    [
        ("policy", "test_file or test_path or test_check"),
        ("sbpl", "test_wrap"),
        ("module", "test_id"),
    ],
)
def test_no_text_is_sent_in_its_encoded_form(contract: str, topics: str, tmp_path: Path) -> None:
    shim = f"{PYTHON} {HERE / 'encoded_if_needed.py'}"
    words = ("--contract", contract, "--profile", "all", "-k", topics)
    found = judged(shim, tmp_path, *words)
    assert (found.code, found.failing) == (0, []), found.said


def test_another_declared_rule_fails_only_its_own_tests(tmp_path: Path) -> None:
    fault = "policy-except.exception-names-itself"
    found = judged(f"{PYTHON} {FAULTY} --fault {fault}", tmp_path, "--topic", "POLICY-EXCEPT")
    assert found.failing == ["POLICY-EXCEPT-03"], found.said


def test_a_runtime_that_needs_newer_system_calls_is_not_accused(tmp_path: Path) -> None:
    shim = tmp_path / "shim"
    filtered = "grep -q '^Seccomp:.2' /proc/self/status && exit 1"
    shim.write_text(f'#!/bin/sh\n{filtered}\nexec {PYTHON} {PYTHON_IMPLEMENTATION} "$@"\n')
    shim.chmod(0o755)
    words = ("EXEC-SPAWN-14", "-k", "runs_work_where and clone3")
    found = judged(str(shim), tmp_path, *words)
    assert found.verdicts == {"EXEC-SPAWN-14": "not-measured"}, found.said
    assert "does not work under this filter" in " ".join(found.said.split())


@pytest.mark.skipif("BOXSPEC_LONG" not in os.environ, reason=LONG)
def test_runs_that_take_turns_are_no_leak(tmp_path: Path) -> None:
    shim = f"{PYTHON} {FAULTY} --fault exec-conc.lock-over-the-wait"
    found = judged(shim, tmp_path, "--topic", "EXEC-LEAK", "--profile", "all")
    assert found.failing == [], found.said


@pytest.mark.turns(10)
def test_extra_fields_and_other_messages_conform(tmp_path: Path) -> None:
    shim = f"{PYTHON} {HERE / 'talkative.py'}"
    topics = (
        "test_every_byte_goes_both_ways or test_a_program_that_cannot_start"
        " or test_an_end_is_a_code"
        " or test_a_stdin_that_cannot_be_read or test_a_signal_after_the_end or test_a_handle_has"
        " or test_a_signal_ends_a_group_that_ignores_it or test_a_timeout_is_in_milliseconds"
    )
    found = judged(shim, tmp_path, "--profile", "all", "-k", topics)
    assert found.all_of("fails", "not-measured") == [], found.said
    wanted = {f"PROCESS-{each}" for each in ("BYTES-01", "OPEN-03", "OPEN-04", "KILL-03")}
    wanted |= {"PROCESS-WAIT-01", "PROCESS-BRIDGE-03", "PROCESS-BRIDGE-13", "MODULE-TIME-01"}
    assert wanted <= {*found.all_of("conforms")}, found.said


def explained(shim: str) -> set[str]:
    """Return the requirements that a shim fails according to the README of the unusual shims."""
    page = (HERE / "README.md").read_text()
    _, found, section = page.partition(f"\n## {shim}\n")
    assert found, f"{HERE / 'README.md'} has nothing about {shim}"
    return set(re.findall(r"^\* ([A-Z0-9-]+): \S", section.partition("\n## ")[0], re.M))


@pytest.mark.turns(10)
@pytest.mark.long
@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not on this machine")
def test_a_managed_runtime_fails_only_its_known_differences(tmp_path: Path) -> None:
    topics = "test_child_descriptors or test_env or test_other_signals or test_limits_umask"
    words = ("--contract", "exec", "--profile", "all", "-k", topics)
    found = judged(str(HERE / "node_shim.mjs"), tmp_path, *words)
    assert {*found.failing} - explained("node_shim.mjs") == set(), found.said
    assert found.all_of("not-measured") == [], found.said
    conforming = {f"EXEC-CHILD-{number}" for number in ("04", "07", "08", "10")}
    assert conforming | {"EXEC-ENV-02"} <= {*found.all_of("conforms")}, found.said


def go_shim(folder: Path) -> str:
    program = folder / "go-shim"
    done = run(
        ["go", "build", "-o", program, HERE / "go_shim.go"],
        env={"CGO_ENABLED": "0", "GOFLAGS": "", "GOTOOLCHAIN": "local"},
    )
    assert done.returncode == 0, done.stderr
    return str(program)


@pytest.mark.turns(10)
@pytest.mark.long
@pytest.mark.skipif(shutil.which("go") is None, reason="Go is not on this machine")
def test_a_compiled_runtime_with_threads_fails_only_its_known_differences(tmp_path: Path) -> None:
    topics = (
        "test_a_spawn_failure_changes_neither or test_child or test_env or test_path or test_leak"
    )
    words = ("--contract", "exec", "--profile", "all", "-k", topics)
    found = judged(go_shim(tmp_path), tmp_path, *words)
    assert {*found.failing} - explained("go_shim.go") == set(), found.said
    # Go searches PATH in the calling process, where the tests cannot observe the order.
    blocked = [f"EXEC-PATH-{number}" for number in ("03", "04", "05", "06")]
    assert found.all_of("not-measured") == blocked, found.said
    conforming = {f"EXEC-CHILD-{number:02}" for number in range(1, 11)}
    assert conforming | {"EXEC-LEAK-01", "EXEC-LEAK-02"} <= {*found.all_of("conforms")}, found.said


@pytest.mark.turns(10)
@pytest.mark.long
@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not on this machine")
def test_a_slow_shim_is_judged_by_its_behaviour(tmp_path: Path) -> None:
    topics = "(test_an_exit_code_is and 1) or test_a_deadline_ends or annotation_of_the_deadline"
    words = ("--contract", "exec", "--profile", "contract", "-k", topics)
    found = judged(str(HERE / "slow-shim"), tmp_path, *words)
    assert {*found.failing} - explained("bash-shim") == set(), found.said
    assert found.all_of("not-measured") == [], found.said


@pytest.mark.skipif("BOXSPEC_LONG" not in os.environ, reason=LONG)
def test_the_whole_of_a_shim_of_bash_is_explained(tmp_path: Path) -> None:
    words = ("--contract", "exec", "--profile", "all")
    found = judged(str(HERE / "bash-shim"), tmp_path, *words)
    said = explained("bash-shim")
    assert {*found.failing} - said == set(), found.said
    # On a busy machine some requirements may be not measured.
    assert said & {*found.all_of("conforms", "not-applicable")} == set(), found.said
