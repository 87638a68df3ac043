"""Tests of shims that try to manipulate the kit: no result is scored, one line names the reason,
and no leftovers remain."""

from __future__ import annotations

import json
import os
import py_compile
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from boxspec import folders
from boxspec.cli.integrity import Kit
from boxspec.errors import HarnessError
from selftest.tools import PYTHON_IMPLEMENTATION, REFERENCE, ROOT, Done, boxspec

pytestmark = pytest.mark.turns(6)

FAULTY = ROOT / "conformance" / "shims" / "faults" / "shim.py"
PROGRAMS = ROOT / "build" / "release" / "fixtures" / "programs"


def wrapped(folder: Path, script: str) -> Path:
    """Return a shim script that runs these shell lines and then the reference."""
    shim = folder / "shim"
    shim.write_text(f'#!/bin/sh\n{script}\nexec {REFERENCE} "$@"\n')
    shim.chmod(0o755)
    return shim


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    folder = tmp_path / "kit" / "room"
    folder.mkdir(parents=True)
    (folder / "judge.py").write_text("verdict = 'fails'\n")
    (folder / "other.py").write_text("")
    return folder


def edit(folder: Path) -> None:
    (folder / "judge.py").write_text("verdict = 'conforms'\n")


def edit_and_set_back(folder: Path) -> None:
    before = (folder / "judge.py").stat()
    (folder / "judge.py").write_text("verdict = 'holds'\n")
    os.utime(folder / "judge.py", ns=(before.st_atime_ns, before.st_mtime_ns))


def exchange(folder: Path) -> None:
    (folder / "judge.py").unlink()
    (folder / "judge.py").symlink_to("other.py")


def shadow(folder: Path) -> None:
    (folder / "json.py").write_text("")


def remove(folder: Path) -> None:
    (folder / "judge.py").unlink()


@pytest.mark.parametrize("how", [edit, edit_and_set_back, exchange, shadow, remove])
def test_a_changed_kit_is_detected(how: Callable[[Path], None], kit: Path) -> None:
    watched = Kit((kit.parent,))
    how(kit)
    with pytest.raises(HarnessError, match=r"(judge|json)\.py was changed during the run"):
        watched.expect_unchanged()


def test_byte_code_and_hidden_files_are_no_change(kit: Path) -> None:
    watched = Kit((kit.parent,))
    (kit / "__pycache__").mkdir()
    (kit / "__pycache__" / "judge.pyc").write_text("")
    (kit / ".judge.py.swp").write_text("")
    watched.expect_unchanged()


@pytest.mark.parametrize("apart", [False, True], ids=["beside it", "apart"])
def test_exchanged_byte_code_is_detected(
    apart: bool, kit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache file has the time and length of the source file. So Python would load the cache
    file in the next run."""
    folder = kit.parent / "compiled" / kit.relative_to("/") if apart else kit / "__pycache__"
    folder.mkdir(parents=True)
    if apart:
        monkeypatch.setattr(sys, "pycache_prefix", str(kit.parent / "compiled"))
    code = folder / "judge.cpython-311.pyc"
    py_compile.compile(str(kit / "judge.py"), cfile=str(code), doraise=True)
    watched = Kit((kit,))
    py_compile.compile(str(kit / "judge.py"), cfile=str(code), doraise=True)
    (folder / "other.cpython-311.pyc").write_text("new")
    watched.expect_unchanged()
    code.write_bytes(code.read_bytes().replace(b"fails", b"holds"))
    with pytest.raises(HarnessError, match=r"judge\.cpython-311\.pyc was changed during the run"):
        watched.expect_unchanged()


def test_byte_code_of_an_older_source_is_compiled_again(kit: Path) -> None:
    (kit / "__pycache__").mkdir()
    code = kit / "__pycache__" / "judge.cpython-311.pyc"
    py_compile.compile(str(kit / "judge.py"), cfile=str(code), doraise=True)
    (kit / "judge.py").write_text("verdict = 'holds and is longer'\n")
    watched = Kit((kit,))
    py_compile.compile(str(kit / "judge.py"), cfile=str(code), doraise=True)
    watched.expect_unchanged()


def test_a_shim_that_edits_its_judge_has_no_score(tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    shutil.copytree(PROGRAMS, programs)
    shim = wrapped(tmp_path, f"printf x >>{programs / 'emit'}")
    words = ("run", "EXEC-RESULT-01", "--shim", str(shim))
    done = boxspec(*words, env={"BOXSPEC_PROGRAMS": str(programs), "CI": ""})
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stdout + done.stderr
    assert f"{programs / 'emit'} was changed during the run" in done.stderr
    assert "\nPASS" not in done.stdout


def judged(shim: Path, *requirements: str, only: str = "") -> Done:
    words = ["-k", only] if only else []
    return boxspec("run", "--contract", "exec", "--shim", str(shim), *words, *requirements)


REFUSES_DEADLINES = """\
if [ "$1" = run ] && grep -q '"op": "exec.run".*"timeout_ms"' "$2"; then
    id=$(sed 's/.*"id": "\\([^"]*\\)".*/\\1/' "$2")
    why='"unsupported": {"capability": "timeout_ms", "why": "it cannot be ended"}'
    printf '{"id": "%s", %s}' "$id" "$why" >"$3"
    exit 0
fi"""


def test_a_shim_that_refuses_deadlines_fails_only_their_tests(tmp_path: Path) -> None:
    done = judged(wrapped(tmp_path, REFUSES_DEADLINES), "EXEC-TIMEOUT-01", "EXEC-RESULT-01")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FAIL EXEC-TIMEOUT-01 " in done.stdout
    assert "EXEC-RESULT-01" not in done.stdout


def judged_as_runner(folder: Path, script: str) -> Done:
    shim = wrapped(folder, f'if [ "$1" = --internal-sandbox-runner ]; then {script}; fi')
    words = ("run", "MODULE-RUNNER-01", "-k", "NaN", "--shim", str(shim))
    return boxspec(*words, env={"CI": ""})


@pytest.mark.turns(10)
def test_a_hanging_runner_fails_and_leaves_no_process(tmp_path: Path) -> None:
    # Leave a process in its own session that holds the inherited descriptors.
    hangs = f"setsid sleep 600 & echo $! $$ >>{tmp_path}/pids; wait"
    done = judged_as_runner(tmp_path, hangs)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FAIL MODULE-RUNNER-01 " in done.stdout
    assert "did not return within 30 s of its start" in " ".join(done.stdout.split())
    pids = (tmp_path / "pids").read_text().split()
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []


def test_a_runner_that_prints_without_end_fails(tmp_path: Path) -> None:
    done = judged_as_runner(tmp_path, "exec yes")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FAIL MODULE-RUNNER-01 " in done.stdout
    assert "it wrote more than 134217728 bytes to its stdout" in " ".join(done.stdout.split())


def test_leftover_processes_of_a_shim_are_ended_and_reported(tmp_path: Path) -> None:
    daemon = "setsid sleep 600 <>/dev/null >&0 2>&0 &"
    # Wait until setsid has started sleep: before that its command line may be empty.
    named = "until grep -qs sleep /proc/$!/cmdline; do :; done;"
    script = f'if [ "$1" = run ] && grep -q "/emit" "$2"; then {daemon} {named} fi'
    done = judged(wrapped(tmp_path, script), "EXEC-TEXT-01")
    assert done.returncode == 0, done.stdout + done.stderr
    told = re.search(
        r"^leftover +[0-9]+ process\S* running after .*: ([0-9]+) .*sleep 600$", done.stdout, re.M
    )
    assert told, done.stdout + done.stderr
    assert not Path(f"/proc/{told[1]}").exists()


MOUNTS = 'm=$(dirname "$2")/mounted; mkdir -p "$m"; mountpoint -q "$m" || mount -t tmpfs left "$m"'
HOLDS = 'm=$(dirname "$2")/held; [ -e "$m" ] || { : >"$m"; chattr +i "$m"; }'


@pytest.mark.skipif(os.geteuid() != 0, reason="to mount, and to hold a file, needs root")
@pytest.mark.parametrize(
    ("line", "why", "remedy"),
    [(MOUNTS, "mounted is mounted", "umount -R"), (HOLDS, "held is immutable", "chattr -R -ia")],
    ids=["a mount", "an immutable file"],
)
def test_the_reason_that_a_folder_cannot_be_deleted_is_reported(
    line: str, why: str, remedy: str, tmp_path: Path
) -> None:
    shim = wrapped(tmp_path, f'if [ "$1" = run ]; then {line}; fi >/dev/null 2>&1')
    place, file = tmp_path / "tmp", tmp_path / "result.json"
    place.mkdir(mode=0o755)
    words = ("run", "--shim", str(shim), "EXEC-RESULT-01", "--json", str(file))
    # The mount is in a new namespace, so that it ends with the run.
    private = ("unshare", "--mount", "--propagation", "private")
    done = subprocess.run(
        [*private, sys.executable, "-P", "-m", "boxspec", *words],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(place), "CI": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        left = json.loads(file.read_text())["left"]
        if not left and line is HOLDS:
            pytest.skip("no file here is held by chattr(1)")
        pattern = f"{place}/.* is not removed: .*{why}.*; {remedy} .*, then rm -rf {place}/.*"
        assert left and all(re.fullmatch(pattern, each) for each in left), left
        told = [line for line in done.stdout.splitlines() if line.startswith("leftover ")]
        assert (told, done.stderr) == ([f"leftover  {each}" for each in left], "")
    finally:
        subprocess.run(["chattr", "-R", "-ia", place], stderr=subprocess.DEVNULL, check=False)


# A text that clears the screen, forges a line of a build log, and ends with a newline.
EVIL = "\x1b[2J\r\n::error::forged\n"
SAYS_EVIL = f"""
import os, runpy, sys
sys.argv[0] = {str(PYTHON_IMPLEMENTATION)!r}
sys.path.insert(0, os.path.dirname(sys.argv[0]))
import jsonwire
plain = jsonwire.dump

def spoiled(value):
    if not isinstance(value, dict):
        return value
    names = ("name", "version", "language", "message", "why")
    return {{k: {EVIL!r} if k in names else spoiled(each) for k, each in value.items()}}

jsonwire.dump = lambda value: plain(spoiled(value))
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize("words", [("smoke",), ("run", "EXEC-SPAWN-01", "-v")])
def test_texts_of_a_shim_are_shown_as_escaped_lines(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "shim.py").write_text(SAYS_EVIL)
    done = boxspec(*words, "--shim", f"{sys.executable} -I -S {tmp_path / 'shim.py'}")
    said = done.stdout + done.stderr
    assert "\\x1b[2J\\r\\n" in said, said
    acting = r"[\x00-\x09\x0b-\x1f\x7f-\x9f]|^\s*::"
    assert not re.search(acting, said, re.M), ascii(said)


WAITS_BY_A_HELPER = f"""\
if [ "$1" = run ] && grep -q '"hold": ' "$2"; then
    hold=$(sed 's/.*"hold": "\\([^"]*\\)".*/\\1/' "$2")
    sed 's/, "hold": "[^"]*"//' "$2" >"$2.new"
    {REFERENCE} run "$2.new" "$3"
    cat "$hold"
    exit
fi"""


def test_a_process_that_waits_in_place_of_a_shim_is_not_in_its_run(tmp_path: Path) -> None:
    done = judged(wrapped(tmp_path, WAITS_BY_A_HELPER), "EXEC-KILL-13", only="no_member")
    assert done.returncode == 0, done.stdout + done.stderr


ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def begun(shim: Path, started: Path, tmp_path: Path) -> tuple[subprocess.Popen[str], Path]:
    """Start a run and wait until its shim has a case; return the run and its TMPDIR."""
    folder = tmp_path / "tmp"
    folder.mkdir(mode=0o755)
    words = ("run", "--contract", "exec", "--topic", "EXEC-KILL", "--shim", str(shim))
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "boxspec", *words],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder), "CI": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # `nohup` or `&` may have made these signals ignored for the self-tests.
        preexec_fn=lambda: [signal.signal(each, signal.SIG_DFL) for each in ENDINGS],
    )
    limit = time.monotonic() + 60
    while not (started.is_file() and started.read_text()) and process.poll() is None:
        assert time.monotonic() < limit, "no shim was started"
    return process, folder


@pytest.mark.parametrize("number", ENDINGS)
def test_a_run_that_is_ended_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    started = tmp_path / "started"
    shim = wrapped(tmp_path, f"case $1 in run) echo $$ >>{started}; exec sleep 600;; esac")
    process, folder = begun(shim, started, tmp_path)
    limit = time.monotonic() + 60
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number, err
    assert err.splitlines()[-1].startswith("boxspec: interrupted"), err
    assert list(folder.iterdir()) == []
    # The kit has ended and does not reap the processes any more, so their pids may still exist for
    # a moment.
    pids = [Path(f"/proc/{pid}") for pid in started.read_text().split()]
    while any(pid.exists() for pid in pids):
        assert time.monotonic() < limit, "a shim lives on"


def test_the_next_run_removes_leftovers_of_a_killed_run(tmp_path: Path) -> None:
    started = tmp_path / "started"
    shim = wrapped(tmp_path, f"case $1 in run) echo $$ >>{started}; exec sleep 600;; esac")
    process, folder = begun(shim, started, tmp_path)
    process.kill()
    process.communicate(timeout=60)
    (left,) = folder.iterdir()
    others = [folder / "boxspec-notes", folder / left.name.replace("boxspec-", "other-")]
    # A pid may be reused. A process with another start time is not the one that left the folder.
    _, _, namespace = folders.owner().split("-")
    reused = folder / f"boxspec-{os.getpid()}-1-{namespace}-x"
    kept = folder / f"boxspec-1-1-{namespace}-x"
    for each in (*others, reused, kept):
        each.mkdir()
    (kept / ".kept").touch()
    done = boxspec("smoke", "--shim", REFERENCE, env={"TMPDIR": str(folder)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert {*folder.iterdir()} == {*others, kept}


def test_the_next_run_keeps_evidence_of_failing_cases(tmp_path: Path) -> None:
    env = {"TMPDIR": str(tmp_path)}
    shim = f"{sys.executable} -I -S {FAULTY} --fault exec-result.codes-lose-their-high-bit"
    words = ("run", "EXEC-RESULT-01", "--shim", shim)
    assert boxspec(*words, env=env).returncode == 1
    # The worker has a folder of its own.
    left = {*tmp_path.iterdir()}
    assert 1 <= len(left) <= 2
    boxspec("smoke", "--shim", REFERENCE, env=env)
    assert {*tmp_path.iterdir()} == left


# Runs the Python implementation, and then replaces each file of its case by a fifo.
REPLACES_FILES = """\
import contextlib, os, runpy, sys
from pathlib import Path

def replace():
    if sys.argv[1:2] != ["run"]:
        return
    for each in Path(os.path.realpath(sys.argv[2])).parent.parent.rglob("*"):
        with contextlib.suppress(OSError):
            if each.is_file() and not each.is_symlink() and "/run-" not in str(each.parent):
                each.unlink()
                os.mkfifo(each)

def exit_after(code, exit=os._exit):
    replace()
    exit(code)

os._exit = exit_after
try:
    runpy.run_path("{shim}", run_name="__main__")
finally:
    replace()
"""


@pytest.mark.turns(10)
@pytest.mark.long
def test_files_replaced_by_fifos_do_not_stop_a_run(tmp_path: Path) -> None:
    shim = tmp_path / "shim.py"
    python = ROOT / "conformance" / "shims" / "python"
    shim.write_text(f"import sys\nsys.path.insert(0, '{python}')\n")
    with shim.open("a") as file:
        file.write(REPLACES_FILES.replace("{shim}", f"{python}/shim.py"))
    words = ["--contract", "process", "-k", "each_stream_has_its_own_mode or do_not_mix"]
    done = boxspec("run", *words, "--shim", f"/usr/bin/python3 -I -S {shim}")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "is no regular file" in done.stdout
