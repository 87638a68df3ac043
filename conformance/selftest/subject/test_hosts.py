"""Tests of runs on unusual hosts: the host is never a reason to accuse an implementation."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from boxspec.errors import UsageError
from boxspec.subject.quiet import need_true_clock
from selftest.tools import REFERENCE, ROOT, Done, boxspec, run

KIT = [sys.executable, "-P", "-m", "boxspec", "run", "--shim", str(REFERENCE)]
OLD_KERNEL = [sys.executable, "-I", str(Path(__file__).with_name("old_kernel.py"))]
WITHOUT_CAPABILITIES = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"]


# Opens many descriptors, and executes its arguments with them.
CROWDED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
for _ in range(1100):
    os.set_inheritable(os.open("/dev/null", os.O_RDONLY), True)
os.execv(sys.argv[1], sys.argv[1:])
"""


def judged(done: Done) -> str:
    """Return the output of a run. It may leave requirements untested, and no test may fail."""
    assert done.returncode in (0, 3), done.stdout + done.stderr
    assert not {"FAIL", "ESCAPED", "KIT"} & {line.split(" ")[0] for line in done.stdout.split("\n")}
    return done.stdout


@pytest.mark.parametrize("name", ["with blanks 'and quotes'", "long" * 40])
def test_any_name_of_the_scratch_folder_will_do(tmp_path: Path, name: str) -> None:
    place = tmp_path / name
    place.mkdir()
    ids = ["EXEC-SPAWN-02", "MODULE-DIR-01", "MODULE-DIR-04"]
    said = judged(run([*KIT, *ids], env={"TMPDIR": str(place)}))
    assert "PASS  3 of 3 requirements" in said


def test_a_caller_may_have_more_descriptors_open_than_select_supports() -> None:
    words: list[str | Path] = [
        sys.executable,
        "-c",
        CROWDED,
        ROOT / "ci" / "boxspec",
        "run",
        "--shim",
        REFERENCE,
    ]
    said = judged(run([*words, "EXEC-SPAWN-10", "MODULE-DIR-01"]))
    assert "PASS  2 of 2 requirements" in said


def test_a_library_that_is_missing_is_named() -> None:
    done = run([*KIT, "EXEC-SPAWN-01"], env={"LD_PRELOAD": "/no/such.so"})
    assert done.returncode == 2, done.stdout + done.stderr
    said = r"boxspec: LD_PRELOAD: each program prints .*no/such.so.* \(unset LD_PRELOAD\)"
    assert re.fullmatch(said, done.stderr.splitlines()[-1])


def test_a_library_that_changes_the_clock_is_refused() -> None:
    with pytest.raises(UsageError, match=r"LD_PRELOAD: libfaketime changes the clock"):
        need_true_clock({"LD_PRELOAD": "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"})


# Stops the warden, like another process of the host, once: before the answer to a run of a test.
STOPS_ONCE = """#!/bin/sh
if [ "$1" = run ] && grep -q slow-exit "$2" && mkdir {done}; then kill -STOP "$PPID"; fi
exec {shim} "$@"
"""


def test_a_warden_that_another_process_stops_accuses_no_shim(tmp_path: Path) -> None:
    shim, done = tmp_path / "shim", tmp_path / "done"
    shim.write_text(STOPS_ONCE.format(done=done, shim=REFERENCE))
    shim.chmod(0o755)
    words = ["--shim", str(shim), "--contract", "exec", "-k", "test_the_end and 40"]
    said = judged(boxspec("run", *words))
    assert done.exists()
    assert "late test repeated" in said


BUSYBOX = 'mount --bind "$(command -v busybox)" "$(readlink -f /bin/sh)" && exec "$@"'


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("busybox") is None, reason="needs root and busybox"
)
def test_the_shell_may_be_busybox() -> None:
    words = ["unshare", "--mount", "sh", "-c", BUSYBOX, "sh", *KIT, "EXEC-SPAWN-02"]
    assert "PASS  1 of 1 requirement" in judged(run(words))


def test_an_old_kernel_lacks_what_a_test_needs() -> None:
    said = judged(run([*OLD_KERNEL, *KIT, "EXEC-KILL-13"]))
    assert "for lack of pidfd" in said


def test_a_host_with_small_pipes_lacks_what_a_test_needs() -> None:
    said = judged(run([*OLD_KERNEL, "pipes", *KIT, "EXEC-DEBUG-01", "EXEC-CAP-01"]))
    assert "for lack of pipes" in said


def test_modules_run_on_a_host_without_files_in_memory() -> None:
    said = judged(run([*OLD_KERNEL, "memory", *KIT, "MODULE-EXIT-01", "MODULE-PIPE-01"]))
    assert "PASS  2 of 2 requirements" in said


def test_a_filter_that_refuses_limits_is_named() -> None:
    done = run([*OLD_KERNEL, "limits", *KIT, "EXEC-SPAWN-01"])
    assert (done.returncode, "prlimit: a filter of system calls" in done.stderr) == (2, True)


def test_a_host_without_signals_to_pidfds_lacks_what_a_test_needs() -> None:
    said = judged(run([*OLD_KERNEL, "pidfds", *KIT, "EXEC-KILL-13"]))
    assert "for lack of pidfd" in said


def test_a_backend_that_does_not_start_here_says_nothing_about_another_one() -> None:
    judged(run([*OLD_KERNEL, *KIT, "MODULE-BACKEND-01", "PROCESS-BACKEND-01"]))


@pytest.mark.parametrize("calls", ["events", "access"])
def test_the_reference_does_without_calls_that_a_filter_refuses(calls: str) -> None:
    said = judged(run([*OLD_KERNEL, calls, *KIT, "MODULE-EXIT-01", "EXEC-KILL-01"]))
    assert "PASS  2 of 2 requirements" in said


# A shim that needs an eventfd, as some runtimes of programming languages do.
NEEDS_EVENTS = "import ctypes, sys; sys.exit(ctypes.CDLL(None).eventfd(0, 0) < 0)"


def test_a_call_that_the_host_refuses_to_a_shim_is_named(tmp_path: Path) -> None:
    shim = tmp_path / "shim"
    shim.write_text(f"#!/bin/sh\n{sys.executable} -c '{NEEDS_EVENTS}' && exec {REFERENCE} \"$@\"\n")
    shim.chmod(0o755)
    words = [*KIT[:-1], str(shim), "EXEC-SPAWN-02"]
    assert judged(run(words))
    done = run([*OLD_KERNEL, "events", *words])
    assert done.returncode == 2
    assert "host: a filter refuses system calls: eventfd2 (Operation not permitted)" in done.stderr


def test_a_filter_that_hides_access_from_the_shell_is_named() -> None:
    done = run([*OLD_KERNEL, "access", str(ROOT / "ci" / "setup")])
    named = "a filter of system calls refuses faccessat2" in done.stderr
    # A C library older than 2.33 does not use the call.
    assert named or done.returncode == 0, done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="about root")
def test_root_without_capabilities_lacks_other_users() -> None:
    said = judged(run([*WITHOUT_CAPABILITIES, *KIT, "EXEC-SPAWN-12", "EXEC-KILL-15"]))
    assert "for lack of root" in said
