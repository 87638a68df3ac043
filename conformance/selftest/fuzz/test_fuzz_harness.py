"""Tests of fuzzing a third-party parser: through a shim, in its own process, and with tools of
other languages.

Macros of fuzz/harness/example/tiny_json.h insert its faults.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from selftest.tools import ROOT, Done, named_block, run

HARNESS = ROOT / "fuzz" / "harness"
EXAMPLE = HARNESS / "example"
CORPUS = ROOT / "fuzz" / "corpus" / "policy_json"
DICTIONARY = ROOT / "fuzz" / "dictionaries" / "policy_json.dict"
STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Werror")
PARSER = (EXAMPLE / "tiny_json.c", "-I", HARNESS)


def compiled(out: Path, compiler: str, *words: str | Path) -> Path:
    done = run([compiler, "-g", *STRICT, *words, "-o", out])
    assert done.returncode == 0, done.stderr
    return out


def replayed(tmp_path: Path, *planted: str) -> Done:
    """Build the program with the plain compiler and replay the corpus in it."""
    words = ["-std=c17", *(f"-DTINY_JSON_{each}" for each in planted), "-DBOXSPEC_FUZZ_MAIN"]
    program = compiled(tmp_path / "replay", "cc", *words, EXAMPLE / "tiny_fuzz.c", *PARSER)
    return run([program, *sorted(CORPUS.iterdir())])


def test_the_harness_is_c99_and_cpp11_and_the_example_has_ten_lines() -> None:
    source = EXAMPLE / "tiny_fuzz.c"
    assert len(source.read_text().splitlines()) <= 10
    for words in (["cc", "-std=c99"], ["c++", "-std=c++11", "-x", "c++"]):
        done = run([*words, *STRICT, "-fsyntax-only", "-I", HARNESS, source])
        assert done.returncode == 0, done.stderr


def test_a_correct_parser_passes(tmp_path: Path) -> None:
    done = replayed(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{len(list(CORPUS.iterdir()))} inputs replayed\n"


@pytest.mark.parametrize(
    ("mistake", "oracle"),
    [("TAKES_ANY_TAIL", "taken"), ("REFUSES_TABS", "refused"), ("COUNTS", "again")],
)
def test_each_oracle_fires(mistake: str, oracle: str, tmp_path: Path) -> None:
    done = replayed(tmp_path, mistake)
    assert done.returncode == -signal.SIGABRT
    assert re.search(rf"^boxspec-fuzz: {oracle}: .*\n  input  .+$", done.stderr, re.M)


def test_a_read_beyond_the_end_is_found_in_process(tmp_path: Path) -> None:
    words = ["-O1", "-fsanitize=fuzzer,address,undefined", "-DTINY_JSON_OVERREADS"]
    program = compiled(tmp_path / "tiny", "clang", *words, EXAMPLE / "tiny_fuzz.c", *PARSER)
    (tmp_path / "found").mkdir()
    flags = [
        "-max_total_time=120",
        "-seed=1",
        f"-dict={DICTIONARY}",
        f"-artifact_prefix={tmp_path}/",
    ]
    done = run([program, *flags, tmp_path / "found", CORPUS])
    assert done.returncode != 0, done.stderr[-2000:]
    assert "AddressSanitizer: heap-buffer-overflow" in done.stderr
    assert re.search(r" in word .*tiny_json\.c:\d+", done.stderr)


def test_the_same_source_is_a_target_of_afl(tmp_path: Path) -> None:
    words = ["-O1", "-fsanitize=fuzzer,address", "-DTINY_JSON_OVERREADS", "-w"]
    program = tmp_path / "tiny"
    done = run(["afl-clang-fast", *words, EXAMPLE / "tiny_fuzz.c", *PARSER, "-o", program])
    assert done.returncode == 0, done.stderr
    (tmp_path / "cut").write_bytes(b"tr")
    asked = run([program, tmp_path / "cut"])
    assert asked.returncode != 0 and "heap-buffer-overflow" in asked.stderr


def test_a_read_beyond_the_end_is_found_through_a_shim(tmp_path: Path) -> None:
    """The shim supports only policy.load. The run ends when it reports the expected finding."""
    words = ["-std=c17", "-D_GNU_SOURCE", "-fsanitize=address", "-DTINY_JSON_OVERREADS"]
    shim = compiled(tmp_path / "shim", "cc", *words, EXAMPLE / "tiny_shim.c", *PARSER)
    work = tmp_path / "work"
    words = [sys.executable, "-u", "-P", "-m", "boxspec", "fuzz", "shim_diff", "--time", "30s"]
    said = []
    with subprocess.Popen(
        [*words, "--shim", str(shim), "--work", str(work)],
        stdout=subprocess.PIPE,
        text=True,
        process_group=0,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line)
            if line.startswith("found     shim-died heap-buffer-overflow: "):
                process.send_signal(signal.SIGINT)
    block = "".join(said).partition("\nshim_diff: shim-died heap-buffer-overflow: ")[2]
    assert process.returncode == 1 and block, "".join(said)
    assert "    op       policy.load\n" in block
    stderr = block.partition("  stderr    of the shim\n")[2].partition("\n  input ")[0]
    assert "ERROR: AddressSanitizer: heap-buffer-overflow" in stderr
    assert re.search(r"#0 0x[0-9a-f]+ in word .*tiny_json\.c:\d+", stderr), stderr


def test_the_example_of_the_page_is_the_one_that_is_compiled() -> None:
    page = HARNESS / "README.md"
    assert named_block(page, "tiny_fuzz.c").strip() == (EXAMPLE / "tiny_fuzz.c").read_text().strip()


# Other languages ----------------------------------------------------------------------------


def tool(name: str, *places: str) -> str:
    found = shutil.which(name, path=os.pathsep.join([os.environ["PATH"], *places]))
    if found is None:
        pytest.skip(f"{name} is missing: this template was not built")
    return found


@pytest.mark.parametrize("tags", ["", "planted"])
def test_the_template_for_go_builds_and_runs_the_corpus(tags: str, tmp_path: Path) -> None:
    go = tool("go", "/usr/local/go/bin")
    folder = tmp_path / "go"
    shutil.copytree(HARNESS / "go", folder)
    env = {"BOXSPEC_CORPUS": str(CORPUS), "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"}
    done = run([go, "test", "-vet=off", f"-tags={tags}", "-run", "FuzzTake"], folder, env)
    if tags:
        assert done.returncode == 1 and "index out of range" in done.stdout, done.stdout
    else:
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_template_for_rust_builds(tmp_path: Path) -> None:
    cargo = tool("cargo", str(Path.home() / ".cargo" / "bin"))
    tool("cargo-fuzz", str(Path.home() / ".cargo" / "bin"))
    folder = tmp_path / "crate"
    shutil.copytree(HARNESS / "rust", folder / "fuzz")
    (folder / "src").mkdir()
    (folder / "src" / "lib.rs").touch()
    (folder / "Cargo.toml").write_text('[package]\nname = "yourparser"\nversion = "0.0.0"\n')
    flags = ["-max_total_time=5", f"-dict={DICTIONARY}"]
    done = run([cargo, "+nightly", "fuzz", "run", "take", CORPUS, "--", *flags], folder)
    assert done.returncode == 0, done.stderr[-3000:]
