"""Tests of the check that /proc shows the processes of the kit to this user."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from boxspec.errors import UsageError
from boxspec.subject.observe import visible
from selftest.tools import CONFORMANCE, REFERENCE, ROOT, run

# The exit status of ci/as-user if the other user cannot enter the checkout.
UNREADABLE = 69
IN_MOUNTS = ("unshare", "--mount", "sh", "-c")
RUN = ["run", "EXEC-TEXT-01", "--shim", str(REFERENCE)]
KIT = ("env", f"PYTHONPATH={CONFORMANCE}", sys.executable, "-P", "-m", "boxspec")

USERS = "CapEff:\t0000000000000000\n"
ROOTS = "CapEff:\t000001ffffffffff\n"


@pytest.mark.parametrize(
    ("mounts", "status", "hidden"),
    [
        ("proc /proc proc rw,nosuid,hidepid=invisible 0 0\n", USERS, True),
        ("proc /proc proc rw,hidepid=2,gid=5 0 0\n", USERS, True),
        ("proc /proc proc rw,hidepid=2,gid=77 0 0\n", USERS, False),
        ("proc /proc proc rw,hidepid=2 0 0\n", ROOTS, False),
        ("proc /proc proc rw,hidepid=off 0 0\n", USERS, False),
        ("proc /proc proc rw,hidepid=2 0 0\nproc /proc proc rw 0 0\n", USERS, False),
        ("proc /proc proc rw 0 0\nproc /srv/proc proc rw,hidepid=2 0 0\n", USERS, False),
    ],
)
def test_a_user_sees_all_processes_or_none_of_others(
    mounts: str, status: str, hidden: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"/proc/self/mounts": mounts, "/proc/self/status": status, "/proc/self/stat": "1"}
    monkeypatch.setattr(visible, "read", lambda path: texts[path].encode())
    monkeypatch.setattr(os, "getgroups", lambda: [77])
    monkeypatch.setattr(os, "getegid", lambda: 1000)
    assert visible.hidden_by_proc() == hidden
    if hidden:
        with pytest.raises(UsageError, match="hidepid"):
            visible.need_proc()


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts")
@pytest.mark.parametrize(
    ("mount", "user", "words", "says"),
    [
        ("-t tmpfs none", [], RUN, "/proc: is not mounted here"),
        ("-t tmpfs none", [], ["verify", "--", "env"], "/proc: is not mounted here"),
        (
            "-t proc -o hidepid=2 proc",
            [ROOT / "ci" / "as-user"],
            RUN,
            "/proc: is mounted with hidepid",
        ),
    ],
)
def test_a_run_that_could_not_observe_is_refused_in_one_line(
    mount: str, user: list[Path], words: list[str], says: str
) -> None:
    there: list[str | Path] = [*IN_MOUNTS, f'mount {mount} /proc; exec "$@"', "sh", *user]
    done = run([*there, *KIT, *words])
    if user and done.returncode == UNREADABLE:
        pytest.skip("another user cannot enter the checkout")
    assert done.returncode == 2, done
    assert [says in line for line in done.stderr.splitlines()] == [True], done
