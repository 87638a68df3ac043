"""Tests of ci/setup and ci/boxspec in a checkout: they name missing tools, and take almost no time
if all tools are there."""

from __future__ import annotations

import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from boxspec.subject.observe import procs
from contracts.shared.moments import until
from selftest.tools import FAKE, ROOT, run

pytestmark = pytest.mark.turns(6)

SETUP_NEEDS = ("bash", "cat", "env", "flock", "mkdir", "paste", "readlink", "sha256sum", "sort")
NOBODY = 65534


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Create a checkout that has only ci/setup, and a PATH that has only the tools of a minimal
    Debian."""
    (tmp_path / "ci").mkdir()
    for name in ("setup", "requirements.txt"):
        shutil.copy(ROOT / "ci" / name, tmp_path / "ci" / name)
    (tmp_path / "bin").mkdir()
    for name in SETUP_NEEDS:
        (tmp_path / "bin" / name).symlink_to(str(shutil.which(name)))
    apt_get = tmp_path / "bin" / "apt-get"
    apt_get.write_text("#!/bin/bash\nexit 100\n")
    apt_get.chmod(0o755)
    for path in (tmp_path, *tmp_path.rglob("*")):
        if os.geteuid() == 0:
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    return tmp_path


def test_without_root_the_missing_packages_are_named(bare: Path) -> None:
    env = {"PATH": str(bare / "bin")}
    done = run(["bash", bare / "ci" / "setup"], cwd=Path("/"), env=env, user=user_of(bare))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1, done.stderr
    for package in ("build-essential", "cmake", "libcjson-dev", "ninja-build", "valgrind"):
        assert package in done.stderr


def test_without_root_the_missing_fuzzing_engines_are_named(bare: Path) -> None:
    env = {"PATH": str(bare / "bin")}
    done = run(["bash", bare / "ci/setup", "--fuzz"], cwd=Path("/"), env=env, user=user_of(bare))
    assert done.returncode == 2
    for package in ("afl++", "clang", "cmake", "llvm"):
        assert f" {package} " in f"{done.stderr.strip()} ", done.stderr


def test_a_line_break_in_the_path_is_reported(bare: Path) -> None:
    odd = bare / "a\nb"
    shutil.copytree(bare / "ci", odd / "ci")
    done = run(["bash", odd / "ci" / "setup"], env={"PATH": str(bare / "bin")})
    assert done.returncode == 2
    assert (
        done.stderr == "ci/setup: the checkout's path has a line break in it: move the checkout\n"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("script", ["setup", "build"])
def test_a_read_only_checkout_is_reported_in_one_line(script: str, bare: Path) -> None:
    shutil.copy(ROOT / "ci" / "build", bare / "ci")
    for path in (bare, bare / "ci"):
        os.chown(path, 0, 0)
        path.chmod(0o755)
    words = ["release"] if script == "build" else []
    done = run(
        ["bash", bare / "ci" / script, *words],
        cwd=Path("/"),
        env={"PATH": str(bare / "bin")},
        user=user_of(bare),
    )
    assert done.returncode == 2
    assert re.fullmatch(
        rf"ci/{script}: {bare} cannot be written: copy the checkout to a place of yours\n",
        done.stderr,
    )


def user_of(folder: Path) -> int | None:
    """Let an ordinary user enter the folder, and return the user's id.

    Return None if this process is not root.
    """
    for parent in folder.parents:
        if parent.stat().st_mode & 0o777 == 0o700:
            parent.chmod(0o711)
    return NOBODY if os.geteuid() == 0 else None


def test_an_unknown_argument_of_setup_is_one_line() -> None:
    done = run([ROOT / "ci" / "setup", "--everything"])
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "--everything" in done.stderr


def test_setup_is_silent_and_fast_if_everything_is_installed() -> None:
    run([ROOT / "ci" / "setup"])
    took = []
    for _ in range(5):
        started = time.monotonic()
        done = run([ROOT / "ci" / "setup"])
        took.append(time.monotonic() - started)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    # This took 9 ms on two idle cores; a setup that inspects packages would take seconds.
    assert statistics.median(took) < 0.5


def test_an_unreachable_registry_is_not_reported_as_a_missing_package(
    tmp_path: Path,
) -> None:
    (tmp_path / "ci").mkdir()
    shutil.copy(ROOT / "ci" / "setup", tmp_path / "ci")
    (tmp_path / "ci" / "requirements.txt").write_text("pytest==9.2.0\n")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        index = f"http://127.0.0.1:{closed.getsockname()[1]}/simple"
        env = {"PIP_INDEX_URL": index, "PIP_RETRIES": "1", "PIP_FIND_LINKS": ""}
        done = run([tmp_path / "ci" / "setup"], env=env)
    assert done.returncode == 2
    told = done.stderr.splitlines()[-1]
    assert told.startswith("ci/setup: pip install failed")
    assert "connection broken" in told
    assert "PIP_CERT" in told


def test_the_command_line_works_through_a_link_and_keeps_the_folder(tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(ROOT / "ci" / "boxspec")
    (tmp_path / "yaml.py").write_text("raise SystemExit('a file of the caller was imported')\n")
    (tmp_path / "shims").symlink_to(FAKE.parent)
    done = run(["./linked", "smoke", "--shim", "shims/fake.py honest"], cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_stages_of_ci_test_are_all_there() -> None:
    listed = run([ROOT / "ci" / "test", "--list"]).stdout.split()
    there = {path.name for path in (ROOT / "ci" / "stages").iterdir()}
    assert set(listed) <= there
    assert there - set(listed) == {"build-release", "unit-release"}


def test_a_stage_with_leftovers_fails(tmp_path: Path) -> None:
    stages = tmp_path / "ci" / "stages"
    stages.mkdir(parents=True)
    for name in ("test", "lib.sh"):
        shutil.copy(ROOT / "ci" / name, tmp_path / "ci" / name)
    for name, does in (
        ("tidy", "mkdir $TMPDIR/pytest-of-you"),
        ("untidy", "mktemp forgotten.XXX --tmpdir"),
        ("failing", "mktemp evidence.XXX --tmpdir; exit 1"),
        ("excused", "tidied true; tidied bash -c 'mktemp'"),
    ):
        (stages / name).write_text(f"#!/bin/bash\n. ci/lib.sh\n{does}\n")
        (stages / name).chmod(0o755)
    (tmp_path / "tmp").mkdir()
    stages_of_it = ("tidy", "untidy", "failing", "excused")
    done = run([tmp_path / "ci" / "test", *stages_of_it], env={"TMPDIR": str(tmp_path / "tmp")})
    assert done.returncode == 1
    assert re.findall(r"^(ok|FAIL) +(\w+)", done.stdout, re.M) == [
        ("ok", "tidy"),
        ("FAIL", "untidy"),
        ("FAIL", "failing"),
        ("ok", "excused"),
    ]
    assert re.search(r"^       left behind: forgotten\.\w+$", done.stdout, re.M)
    kept = re.findall(r"^     kept: (.*)$", done.stdout, re.M)
    assert sorted(kept) == sorted(map(str, (tmp_path / "tmp").iterdir()))
    assert len(kept) == 2


def test_evidence_of_failing_shims_is_deleted_with_the_self_tests(tmp_path: Path) -> None:
    fails = "conformance/selftest/docs/test_readme_example.py::test_the_readme_shows_a_real_failure"
    done = run([sys.executable, "-P", "-m", "pytest", "-q", fails], env={"TMPDIR": str(tmp_path)})
    assert done.returncode == 0, done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("step", ["setup", "cmake"])
def test_a_signal_ends_programs_that_the_command_started(step: str, tmp_path: Path) -> None:
    for name in ("boxspec", "build"):
        (tmp_path / "ci").mkdir(exist_ok=True)
        shutil.copy(ROOT / "ci" / name, tmp_path / "ci" / name)
    number = tmp_path / "number"
    # The program writes its pid to a file once it runs. With cmake, the program is a child of cmake
    # and not of ci/build.
    lasts = f"echo $$ >{number}.new; mv {number}.new {number}; exec sleep 600"
    lines = {"setup": lasts, "cmake": f"sh -c '{lasts}'; exit"}
    for path, name in ((tmp_path / "ci" / "setup", "setup"), (tmp_path / "cmake", "cmake")):
        path.write_text(f"#!/bin/sh\n{lines[name] if name == step else ''}\n")
        path.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    with subprocess.Popen([tmp_path / "ci" / "boxspec"], env=env) as asked:
        assert until(number.exists)
        asked.terminate()
        assert asked.wait(20) == 143
    assert until(lambda: not procs.exists(int(number.read_text())))


def test_an_unknown_stage_is_refused() -> None:
    done = run([ROOT / "ci" / "test", "no-such-stage"])
    assert done.returncode == 2
    assert "no-such-stage" in done.stderr
