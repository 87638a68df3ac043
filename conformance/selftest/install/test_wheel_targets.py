"""A wheel for another system: its tag, its tools, and messages about missing tools."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import boxspec
from boxspec import compiling
from boxspec.cli import doctor
from boxspec.errors import UsageError
from boxspec.fuzz import builds
from boxspec.fuzz import targets as fuzz_targets
from boxspec.subject.client import command
from install import absent, targets
from install.targets import Target
from selftest.tools import CONFORMANCE, REFERENCE

OTHER = Target("aarch64" if targets.own().machine == "x86_64" else "x86_64", "musl")
WHY = "a wheel for you@another 'system', that is $HOME, comes without it"


def test_it_is_for_the_system_that_builds_unless_another_one_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(targets.VARIABLE, raising=False)
    assert targets.requested() == targets.own()
    assert targets.needs(targets.requested()) == []
    assert targets.toolchain(targets.requested()) == compiling.system()
    monkeypatch.setenv(targets.VARIABLE, str(OTHER))
    assert targets.requested() == OTHER
    assert targets.needs(OTHER) == [targets.ZIG]
    monkeypatch.setenv(targets.VARIABLE, "x86_64-linux-muls")
    with pytest.raises(targets.NoTargetError, match="'x86_64-linux-muls': name one of x86_64-lin"):
        targets.requested()


def test_programs_are_static_and_preloads_fit_the_c_library_of_the_target() -> None:
    gnu = targets.toolchain(Target(OTHER.machine, "gnu"))
    musl = targets.toolchain(OTHER)
    assert gnu.programs[:3] == (sys.executable, "-m", "ziglang")
    assert gnu.programs == musl.programs
    assert musl.programs[-1] == musl.preloads[-1] == str(OTHER)
    assert gnu.preloads[-1] == f"{OTHER.machine}-linux-gnu.2.17"


def test_the_tag_names_the_newest_needed_glibc() -> None:
    names = subprocess.run(["readelf", "-VW", REFERENCE], capture_output=True, text=True).stdout
    newest = max(int(word.split(".")[1]) for word in names.split() if word[:8] == "GLIBC_2.")
    here = Target("x86_64", "gnu")
    assert targets.platform_tag(here, [REFERENCE]) == f"manylinux_2_{newest}_x86_64"
    assert targets.platform_tag(here, [Path(__file__)]) == "manylinux_2_17_x86_64"
    assert targets.platform_tag(OTHER, [REFERENCE]) == f"musllinux_1_2_{OTHER.machine}"


def test_a_wheel_without_the_reference_names_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = subprocess.run([absent.command(tmp_path, WHY), "exec"], capture_output=True, text=True)
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr.count("\n") == 1 and WHY in said.stderr and command.ELSEWHERE in said.stderr
    monkeypatch.setattr(command, "INSTALLED", True)
    monkeypatch.setattr(command, "ABSENT", absent.write(tmp_path, WHY))
    with pytest.raises(UsageError) as told:
        command.shim_argv("boxspec-ref serve")
    assert told.value.problem == WHY
    monkeypatch.setattr(doctor, "INSTALLED", True)
    assert doctor._reference() == (False, False, f"boxspec-ref: {WHY}")


def test_an_installed_kit_fuzzes_with_what_boxspec_fuzz_brought(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (fuzz_targets, builds):
        monkeypatch.setattr(module, "INSTALLED", True)
    fuzz_targets.every.cache_clear()
    try:
        target = fuzz_targets.named("shim_diff")
        assert [*fuzz_targets.every()] == ["shim_diff"]
        with pytest.raises(UsageError, match=r"glob_diff: .*use shim_diff; .* source archive"):
            fuzz_targets.named("glob_diff")
        monkeypatch.setattr(builds, "ROOT", tmp_path)
        with pytest.raises(UsageError, match=r"is incomplete \(pip install 'boxspec\[fuzz\]'\)"):
            builds.build([target], builds.JUDGE)
        with pytest.raises(UsageError, match=r"--engine afl: .*, with AFL\+\+"):
            builds.build([target], builds.PRESETS["afl"])
        builds.binary(builds.JUDGE, target).parent.mkdir(parents=True)
        builds.binary(builds.JUDGE, target).touch()
        builds.build([target], builds.JUDGE)
        fuzz_targets.every.cache_clear()
        monkeypatch.setattr(fuzz_targets, "LIST", tmp_path / "targets.json")
        with pytest.raises(UsageError, match=r"is not installed \(pip install 'boxspec\[fuzz\]'\)"):
            fuzz_targets.every()
    finally:
        fuzz_targets.every.cache_clear()


def test_the_extra_is_of_the_version_of_the_kit() -> None:
    project = tomllib.loads((CONFORMANCE / "pyproject.toml").read_text())["project"]
    assert project["optional-dependencies"]["fuzz"] == [f"boxspec-fuzz=={boxspec.__version__}"]
