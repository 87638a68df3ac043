"""Tests of the warden: the state of a shim before its first instruction, and its end."""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
from functools import partial
from pathlib import Path

import pytest

from boxspec.judge.verdict import NotMeasured
from boxspec.subject.observe import orphans, procs
from boxspec.subject.observe.lines import Deadline, LineReader
from boxspec.subject.observe.orphans import end_all
from boxspec.subject.observe.warden import ShimNotExecuted, Warden
from selftest.tools import run

NOBODY = 54_321


def started(shim: Path) -> Warden:
    with Path(os.devnull).open("r+b") as null:
        ends = {name: null.fileno() for name in ("stdin", "stdout", "stderr")}
        return Warden([str(shim)], flags=["--uid", str(NOBODY)], env={}, **ends)


def test_another_user_reaches_a_shim_below_folders_that_are_closed_to_others(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "closed" / "open" / "closed too"
    folder.mkdir(parents=True)
    shutil.copy("/bin/true", folder / "shim")
    for closed in (folder, tmp_path / "closed"):
        closed.chmod(0o700)
    if run(["unshare", "--mount", "true"]).returncode != 0:
        with pytest.raises((NotMeasured, ShimNotExecuted)):
            started(folder / "shim")
        return
    warden = started(folder / "shim")
    try:
        ended = warden.wait_exit(Deadline(20))
        assert ended is not None
        assert (ended.how, ended.number) == ("exited", 0)
    finally:
        warden.close()
    assert sorted(path.name for path in folder.iterdir()) == ["shim"]


def test_processes_without_their_warden_are_ended() -> None:
    mark = f"BOXSPEC_SHIM_LOG={uuid.uuid4().hex}"
    env = dict([mark.split("=", 1)])
    known = subprocess.Popen(["/bin/sleep", "60"], env={})
    left = subprocess.Popen(["/bin/sleep", "60"], env=env, start_new_session=True)
    stray = subprocess.Popen(["/bin/sh", "-c", "sleep 60; :"], env={}, start_new_session=True)
    began = procs.proc(left.pid)
    assert began is not None
    # Ignore processes that earlier tests left: this process is a subreaper and has become their
    # parent.
    before = [each for each in procs.tree(os.getpid()) if each.starttime < began.starttime]
    try:
        end_all(mark, partial(procs.adopted, began.starttime, {known.pid}))
        after = {each.pid for each in procs.tree(os.getpid())}
        assert after <= {known.pid, *(each.pid for each in before)}
        assert known.poll() is None
    finally:
        for each in (left, stray, known):
            each.kill()
            each.wait()


def test_a_process_without_an_environment_yet_is_checked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mark, own = f"A={uuid.uuid4().hex}", orphans._marked
    first: list[tuple[list[int], bool]] = [([], True)]
    env = dict([mark.split("=", 1)])
    monkeypatch.setattr(orphans, "_marked", lambda mark: first.pop() if first else own(mark))
    with subprocess.Popen(["/bin/sleep", "60"], env=env) as left:
        try:
            end_all(mark, list)
            assert not Path(f"/proc/{left.pid}").exists()
        finally:
            left.kill()


def test_a_process_during_execve_is_recognised() -> None:
    """During execve() a process has no environment for a moment.

    It must then be recognised as a process that executes a program.
    """
    limit = Deadline(20)
    seen = False
    while not seen and not limit.over():
        with subprocess.Popen(["/bin/sleep", "60"], env={"A": "1"}) as child:
            try:
                before = procs.read(f"/proc/{child.pid}/environ")
                seen = orphans.is_executing(Path(f"/proc/{child.pid}"))
                after = procs.read(f"/proc/{child.pid}/environ")
                assert seen or before or after
            finally:
                child.kill()
    if not seen:
        pytest.skip("no program was seen between the two")


def test_a_process_with_an_empty_environment_is_not_in_execve() -> None:
    with subprocess.Popen(["/bin/cat"], env={}, stdin=subprocess.PIPE, stdout=-1) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(b"there\n")
        child.stdin.flush()
        assert child.stdout.readline() == b"there\n"
        assert procs.read(f"/proc/{child.pid}/environ") == b""
        assert not orphans.is_executing(Path(f"/proc/{child.pid}"))
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert not orphans.is_executing(Path(f"/proc/{child.pid}"))
    assert not orphans.is_executing(Path(f"/proc/{child.pid}"))
    # Pid 2 is a kernel thread, which may be hidden. It does not execute a program.
    assert not orphans.is_executing(Path("/proc/2"))


@pytest.mark.parametrize(
    ("pending", "flags", "dying"),
    [(0, 0, False), (1 << 14, 0, False), (1 << 8, 0, True), (0, 0x4, True), (0, 0x400, True)],
    ids=["runs", "SIGTERM", "SIGKILL", "ending", "ended by a signal"],
)
@pytest.mark.parametrize("place", ["SigPnd", "ShdPnd"])
def test_a_killed_process_is_no_survivor(
    place: str, pending: int, flags: int, dying: bool, tmp_path: Path
) -> None:
    """A killed process that still waits for a processor is not counted as alive."""
    masks = {"SigPnd": 0, "ShdPnd": 0} | {place: pending}
    told = "".join(f"{name}:\t{mask:016x}\n" for name, mask in masks.items())
    (tmp_path / "status").write_text(f"State:\tR (running)\n{told}")
    (tmp_path / "stat").write_text(f"7 (a) b) R 1 7 7 0 -1 {flags} 0 0\n")
    assert procs._thread_is_dying(str(tmp_path)) is dying


def test_processes_in_a_pid_namespace_end_with_its_init(monkeypatch: pytest.MonkeyPatch) -> None:
    """bubblewrap's init is killed when its parent ends.

    The processes in its namespace end only when the init gets a processor.
    """
    words = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"]
    if run([*words, "true"]).returncode != 0:
        pytest.skip("there is no namespace of processes here")
    inside = ["sh", "-c", "sleep 1000 & echo; wait"]
    with subprocess.Popen([*words, *inside], stdout=subprocess.PIPE) as outer:
        try:
            assert outer.stdout is not None
            outer.stdout.readline()
            init, member = procs.tree(outer.pid)
            assert [procs.known_inside_as(each.pid) for each in (init, member)] == [1, 2]
            assert not procs.is_dying(member)
            own = procs._thread_is_dying
            monkeypatch.setattr(
                procs, "_thread_is_dying", lambda folder: f"/{init.pid}/" in folder or own(folder)
            )
            assert procs.is_dying(member)
            assert not procs.is_dying(next(p for p in procs.children(os.getpid()) if p.alive))
        finally:
            outer.kill()


def test_a_reader_of_lines_waits_in_no_read() -> None:
    """poll() may report data that another reader takes before this one reads, so the read must not
    block."""
    ours, theirs = os.pipe()
    try:
        reader = LineReader(ours)
        os.write(theirs, b"one\ntwo")
        assert reader.wait(1) == [b"one"]
        assert not os.get_blocking(ours)
        assert reader.read_now() == []
        assert not reader.eof
    finally:
        os.close(ours)
        os.close(theirs)
