"""Tests of a shim in an unusual state: neither inherited state nor other processes of its user may
change a verdict."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from boxspec.judge.verdict import HostLacks, NotMeasured
from boxspec.subject import launching
from contracts.exec import host
from selftest.tools import ROOT, boxspec, run

ODD_IMPLEMENTATION = ROOT / "conformance" / "selftest" / "shims" / "slow_implementation.py"
FORKING_IMPLEMENTATION = ODD_IMPLEMENTATION.with_name("forking_implementation.py")
INTERPRETER = f"{Path(sys.executable).resolve()} -I -S"
# Requirements that compare the child with the caller.
IDS = ["EXEC-CHILD-07", "EXEC-CHILD-08", "EXEC-CHILD-09", "EXEC-SIGNAL-12", "EXEC-STDIN-09"]


# Set a soft limit below the hard limit, as on ordinary hosts: some runtimes raise it at their
# start.
FEW_FILES = ["/bin/sh", "-c", 'ulimit -Sn 1024 && exec "$@"', "sh"]


def test_the_caller_is_compared_by_the_idle_shim() -> None:
    shim = f"{INTERPRETER} {ODD_IMPLEMENTATION} runtime=100 --"
    kit = [sys.executable, "-P", "-m", "boxspec"]
    done = run([*FEW_FILES, *kit, "run", "--shim", shim, *IDS])
    assert done.returncode == 0, done.stdout
    assert f"PASS  {len(IDS)} of {len(IDS)} requirements" in done.stdout


# Requirements that count descendants of the caller.
BELOW = ["EXEC-CONC-01", "EXEC-CONC-05", "EXEC-REQUEST-03", "EXEC-SPAWN-10"]


@pytest.mark.parametrize("between", ["server", "supervisor"])
def test_processes_between_a_caller_and_its_children_are_its_own_matter(between: str) -> None:
    shim = f"{INTERPRETER} {FORKING_IMPLEMENTATION} {between} --"
    done = boxspec("run", "--shim", shim, *BELOW)
    assert done.returncode == 0, done.stdout
    assert "\nPASS  4 of 4 requirements · exit 0\n" in done.stdout


@pytest.fixture
def taken() -> Iterator[int]:
    """Yield a user with one running process."""
    if os.geteuid() != 0:
        pytest.skip("a process of another user needs root")
    user = host.unused_user()
    with subprocess.Popen(["/bin/sleep", "60"], user=user, extra_groups=[], cwd="/") as other:
        try:
            yield user
        finally:
            other.kill()


def test_a_case_uses_a_user_without_a_process(taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "USERS", [taken, taken + 50_000])
    assert {host.unused_user() for _ in range(20)} == {taken + 50_000}


@pytest.mark.parametrize(("limit", "runs"), [(0, False), (1, True)])
def test_a_shim_whose_user_has_too_many_processes_is_not_judged(
    limit: int, runs: bool, taken: int
) -> None:
    flags = ["--uid", str(taken), "--nproc", str(limit)]
    with Path(os.devnull).open("r+b") as null:
        ends = {name: null.fileno() for name in ("stdin", "stdout", "stderr")}
        if runs:
            launching.start(["/bin/true"], flags, {}, ends, asked=flags).close()
            return
        with pytest.raises(HostLacks, match="/bin/true cannot be started: its user has as many"):
            launching.start(["/bin/true"], flags, {}, ends, asked=flags)


def test_too_many_processes_of_the_isolated_user_are_not_a_lack_of_the_host(taken: int) -> None:
    """With --isolate the shim's own processes may have filled the process limit of its user. If a
    process then cannot start, the test is not measured. The message must not blame the host.
    """
    flags = ["--uid", str(taken), "--nproc", "0"]
    with Path(os.devnull).open("r+b") as null:
        ends = {name: null.fileno() for name in ("stdin", "stdout", "stderr")}
        with pytest.raises(NotMeasured, match="its user has as many") as why:
            launching.start(["/bin/true"], flags, {}, ends, asked=["--nofile", "20"])
    assert not isinstance(why.value, HostLacks)
