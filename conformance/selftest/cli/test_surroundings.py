"""Tests of runs in unusual environments: unset, hostile or malformed variables of the caller change
no verdict."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from pathlib import Path

import pytest

from boxspec import places
from boxspec.cli.main import NO_THREADS, status_of
from boxspec.errors import UsageError
from boxspec.report.output_file import OutputFile
from boxspec.subject.client.command import shim_argv
from boxspec.terminal import Terminal
from selftest.tools import CONFORMANCE, PYTHON_IMPLEMENTATION, REFERENCE, ROOT, boxspec, run

pytestmark = pytest.mark.turns(6)

COLLECTS = """
import os
from boxspec.schedule.runner import collect
found = collect()
print(len(found.items), found.failures, {n: v for n, v in os.environ.items() if "PYTEST" in n})
"""


def test_words_for_another_pytest_change_nothing() -> None:
    theirs = {
        "PYTEST_ADDOPTS": "-k test_result --no-such-flag",
        "PYTEST_PLUGINS": "no_such_plugin",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "yes",
    }
    words = [sys.executable, "-P", "-c", COLLECTS]
    ours = {name: value for name, value in os.environ.items() if name.startswith("PYTEST")}
    without = run(words)
    with_them = run(words, env=theirs)
    assert without.stdout.split()[0] == with_them.stdout.split()[0] != "0", with_them.stderr
    # The kit ignores the variables, but shims still get them.
    assert with_them.stdout.strip().endswith(f"[] {ours | theirs}")


# For each environment: shell code that runs "$@", the expected exit status, and the one line on
# stderr. dash counts `ulimit -f` in blocks of 512 bytes.
FULL = "No space left on device"
SURROUNDINGS = {
    "a result that cannot be written": ('"$@" --json /dev/full', 2, f"--json /dev/full: .*{FULL}"),
    "stdout full": ('"$@" >/dev/full', 2, FULL),
    "nothing open": ('"$@" >&- 2>&- <&-', 0, ""),
    "SIGCHLD ignored": ('trap "" CHLD; "$@"', 0, ""),
    "few descriptors": ('ulimit -n 20; "$@"', 2, "may have 20 descriptors open.*ulimit -n 1024"),
    "small files": ('ulimit -f 4096; "$@"', 2, "may have 2 MiB in a file.*ulimit -f unlimited"),
    "little address space": (
        'ulimit -v 1048576; "$@"',
        2,
        "may have 1024 MiB of address space.*ulimit -v unlimited",
    ),
    "just enough descriptors": ('ulimit -n 256; "$@"', 0, ""),
}


@pytest.mark.parametrize("name", SURROUNDINGS)
def test_a_verdict_or_one_line(name: str) -> None:
    line, status, says = SURROUNDINGS[name]
    words = ["-P", "-m", "boxspec", "run", "EXEC-TEXT-01", "--shim"]
    shim = f"{Path(sys.executable).resolve()} -I -S {PYTHON_IMPLEMENTATION}"
    done = run(["/bin/sh", "-c", line, "sh", sys.executable, *words, shim])
    assert done.returncode == status, done
    assert len(done.stderr.splitlines()) == bool(says), done
    assert re.search(says, done.stderr), done
    if "result" in name:
        assert "· exit 0\n" in done.stdout


# In the first two environments, the tests make many runs at once. In the last one they trace system
# calls.
WITH_MANY = ["EXEC-CONC-02", "EXEC-CONC-05", "EXEC-KILL-10"]


@pytest.mark.parametrize(
    ("limit", "status", "says"),
    [
        ("-Sn 256", 0, "PASS  3 of 3 requirements"),
        ("-n 256", 3, "2 not tested here (-v): for lack of descriptors"),
    ],
)
def test_a_low_limit_of_descriptors_accuses_no_shim(limit: str, status: int, says: str) -> None:
    words = [sys.executable, "-P", "-m", "boxspec", "run", *WITH_MANY, "--shim", str(REFERENCE)]
    done = run(["/bin/sh", "-c", f'ulimit {limit}; exec "$@"', "sh", *words])
    assert done.returncode == status, done.stdout + done.stderr
    assert says in done.stdout


def test_a_character_that_the_terminal_lacks_is_shown_by_number() -> None:
    done = boxspec("list", "--contract", "exec", env={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u2026" in done.stdout


def test_modules_and_interpreters_of_the_caller_are_not_used(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('theirs')\n")
    theirs = {"PYTHONPATH": str(tmp_path), "PYTHONHOME": str(tmp_path)}
    done = run([ROOT / "ci" / "boxspec", "explain", "EXEC-ORPHAN-03"], env=theirs)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("EXEC-ORPHAN-03")


def test_a_terminal_of_no_size_shows_the_whole_line() -> None:
    ours, theirs = pty.openpty()
    try:
        widths = ((0, "3/140 · 2 failed"), (20, "3/140 · 2 failed"), (9, "3/140"), (5, ""))
        for columns, shown in widths:
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 0, columns, 0, 0))
            with open(theirs, "w", encoding="utf-8", closefd=False) as out:
                Terminal(out).status("3/140 · 2 failed")
            said = os.read(ours, 4096).decode().rpartition("\033[K")[2]
            assert said == shown, columns
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("crlf", "#!/usr/bin/env python3\r\nimport sys\r\n", "CR LF .*LF at the line ends"),
        (
            "other",
            "#!/usr/bin/python9\n",
            "names /usr/bin/python9, which does not exist .*python3 ",
        ),
        ("bare", "import sys\n", "has no #! line .*--shim 'python3 "),
        ("empty", "", "has no #! line"),
        ("my shim", "#!/bin/sh\n", "is split at its blanks .*--shim \"'"),
    ],
)
def test_the_reason_for_a_failed_start_comes_first(
    name: str, text: str, says: str, tmp_path: Path
) -> None:
    shim = tmp_path / name
    shim.write_bytes(text.encode())
    shim.chmod(0o755)
    with pytest.raises(UsageError, match=says) as told:
        shim_argv(str(shim))
    assert str(shim) in str(told.value)


@pytest.mark.parametrize("text", ["#!/bin/sh -e\n", "#! /bin/sh\n", "#!sh\n", "\x7fELF\0"])
def test_a_file_that_the_kernel_can_start_is_started_directly(text: str, tmp_path: Path) -> None:
    shim = tmp_path / "my shim"
    shim.write_bytes(text.encode())
    shim.chmod(0o755)
    assert shim_argv(f"'{shim}' -x") == (str(shim), "-x")


@pytest.mark.parametrize(
    ("words", "last"), [("x.jar", "{}/x.jar"), ("./x.jar", "{}/x.jar"), ("-m x.jar", "x.jar")]
)
def test_a_file_in_the_callers_folder_is_named_by_its_absolute_path(
    words: str, last: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.jar").touch()
    monkeypatch.chdir(tmp_path)
    assert shim_argv(f"sh -jar {words}")[-1] == last.format(tmp_path)


def test_a_word_that_is_too_long_for_a_name_is_left_as_it_is() -> None:
    assert shim_argv(f"sh -c '{300 * ':;'}'")[-1] == 300 * ":;"


def test_a_missing_folder_is_reported_with_the_mkdir_command(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^--json .*No such file.* \(mkdir -p '.*/my results'\)$"):
        OutputFile("--json", str(tmp_path / "my results" / "r.json"))
    with pytest.raises(UsageError, match="use another file name"):
        OutputFile("--json", str(tmp_path))


def test_without_a_home_the_message_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobodys() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobodys)
    for name in ("XDG_CACHE_HOME", "BOXSPEC_CASE_ROOT"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match=r"^HOME: is not set.* \(set HOME, or XDG_CACHE_HOME\)$"):
        places.case_root()


def test_a_home_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".cache").write_text("a file is in the way")
    monkeypatch.delenv("BOXSPEC_CASE_ROOT", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(UsageError, match=rf"^{tmp_path}/.cache/boxspec: .*BOXSPEC_CASE_ROOT"):
        places.case_root()


def test_a_cache_on_a_read_only_file_system_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOXSPEC_CASE_ROOT", str(tmp_path))
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(UsageError, match=r"cannot be written to \(name another folder: BOXSPEC"):
        places.case_root()


def test_a_host_that_starts_no_threads_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    def verb() -> int:
        raise RuntimeError("can't start new thread")

    assert status_of(verb) == 2
    assert capsys.readouterr().err == f"boxspec: {NO_THREADS}\n"


def test_a_working_directory_that_was_removed_is_named(tmp_path: Path) -> None:
    line = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
    words = ["env", f"PYTHONPATH={CONFORMANCE}", sys.executable, "-P", "-m", "boxspec", "run"]
    done = run(["env", "-C", tmp_path, "sh", "-c", line, "sh", *words, "--shim", REFERENCE])
    said = "boxspec: the working directory was removed: No such file or directory"
    assert (done.returncode, done.stderr) == (2, f"{said} (cd to another folder)\n")
