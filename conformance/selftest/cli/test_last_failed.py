"""Tests of `run --last-failed` and `run --durations`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from boxspec.cli import cache, last_failed
from boxspec.errors import UsageError
from boxspec.subject.client.command import shim_argv
from selftest.tools import ROOT, boxspec

KEEPS_HOME = f"{ROOT}/conformance/shims/faults/shim.py --fault exec-env.keeps-home"


@pytest.mark.turns(6)
def test_only_what_failed_is_run_again(tmp_path: Path) -> None:
    argv, file = shim_argv(KEEPS_HOME), tmp_path / "result.json"
    words = ("run", "--shim", KEEPS_HOME, "--contract", "exec", "--json", file)
    try:
        done = boxspec(*words, "--topic", "EXEC-ENV", "--durations", "2")
        assert done.returncode == 1, done.stdout + done.stderr
        slowest = done.stdout.partition("\nthe 2 slowest tests\n")[2].splitlines()[:2]
        assert all(
            re.match(r" +\d+\.\d\d s  conformance/contracts/exec/", each) for each in slowest
        )
        broken = {
            each["id"]
            for each in json.loads(file.read_text())["requirements"]
            if each["verdict"] == "fails"
        }
        assert set(last_failed.recall(argv)) == broken != set()
        done = boxspec(*words, "--last-failed", "--no-cache")
        assert done.returncode == 1, done.stdout + done.stderr
        tests = json.loads(file.read_text())["tests"]
        assert all(broken & set(each["requirements"]) for each in tests)
    finally:
        cache.write(last_failed.KIND, argv, None)


def test_the_folder_of_the_caller_does_not_change_what_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    shim = tmp_path / "shim"
    shim.write_text("#!/bin/sh\n")
    shim.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    argv = shim_argv("./shim")
    monkeypatch.chdir(tmp_path / "here")
    try:
        cache.write(last_failed.KIND, argv, ["EXEC-ENV-01"])
        assert last_failed.recall(shim_argv("../shim")) == ["EXEC-ENV-01"]
    finally:
        cache.write(last_failed.KIND, argv, None)


def test_a_shim_without_a_failure_has_nothing_to_run_again() -> None:
    with pytest.raises(UsageError, match=r"^--last-failed: no failure of this shim is known"):
        last_failed.recall(["no such shim"])
