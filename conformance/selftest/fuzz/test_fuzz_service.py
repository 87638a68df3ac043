""".clusterfuzzlite/build.sh in the environment that a fuzzing service sets."""

from __future__ import annotations

import fcntl
import re
import zipfile
from pathlib import Path

import pytest

from boxspec.fuzz import targets
from selftest.tools import ROOT, run

# The flags that the service's base image sets for the address sanitizer and libFuzzer.
FLAGS = (
    "-O1 -fno-omit-frame-pointer -gline-tables-only -Wno-error -fsanitize=address"
    " -fsanitize-address-use-after-scope -fsanitize=fuzzer-no-link"
)
SERVED = [target for target in targets.every().values() if not target.shim]


@pytest.fixture(scope="module")
def out() -> Path:
    """Run build.sh and return its output folder.

    The folder stays in build/, so that a second build takes only a second. Workers of pytest share
    the checkout and take turns.
    """
    folder = ROOT / "build" / "service"
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "out").mkdir(exist_ok=True)
    env = {
        "CC": "clang",
        "CXX": "clang++",
        "CFLAGS": FLAGS,
        "CXXFLAGS": FLAGS,
        "LIB_FUZZING_ENGINE": "-fsanitize=fuzzer",
        "SANITIZER": "address",
        "SRC": str(folder / "src"),
        "OUT": str(folder / "out"),
        "WORK": str(folder / "work"),
    }
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "src" / "boxspec").exists():
            (folder / "src" / "boxspec").symlink_to(ROOT)
        done = run([ROOT / ".clusterfuzzlite" / "build.sh"], env=env, cwd=folder)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return folder / "out"


def test_each_target_is_there_but_the_one_that_needs_a_shim(out: Path) -> None:
    built = {path.name for path in out.iterdir() if path.is_file() and path.suffix == ""}
    assert built == {target.name for target in SERVED}
    assert {target.name for target in SERVED} == set(targets.every()) - {"shim_diff"}


@pytest.mark.parametrize("target", SERVED, ids=lambda target: target.name)
def test_a_target_has_its_options_dictionary_and_seeds(target: targets.Target, out: Path) -> None:
    options = (out / f"{target.name}.options").read_text()
    assert f"max_len = {target.max_len}\n" in options
    assert ("dict = " in options) == (target.dictionary is not None)
    if target.dictionary is not None:
        assert (out / f"{target.name}.dict").read_bytes() == target.dictionary.read_bytes()
    inputs = {path.name for folder in target.seeds for path in folder.iterdir()}
    if inputs:
        with zipfile.ZipFile(out / f"{target.name}_seed_corpus.zip") as seeds:
            assert set(seeds.namelist()) == inputs


def test_a_target_runs_where_our_libraries_are_not_installed(out: Path) -> None:
    needed = run(["readelf", "-d", out / "glob_raw"]).stdout
    ours = re.findall(r"NEEDED.*\[(lib(?:cjson|md|yaml|utf8proc)[^\]]*)\]", needed)
    assert ours
    assert {path.name for path in (out / "lib").iterdir()} >= set(ours)
    assert "$ORIGIN/lib" in needed
    linked = run(["ldd", out / "glob_raw"]).stdout
    assert all(f"{name} => {out}/lib/{name}" in linked for name in ours), linked


def test_a_target_fuzzes(out: Path, tmp_path: Path) -> None:
    done = run([out / "glob_raw", "-runs=500", "-seed=1"], cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Done 500 runs" in done.stderr
