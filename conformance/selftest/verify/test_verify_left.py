"""Tests that `boxspec verify` names what the command leaves, and neither leaves nor changes files,
objects or processes itself."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from boxspec.verify import reaching
from boxspec.verify.errors import UntestableError
from boxspec.verify.reaching import need_all_processes
from selftest.tools import CONFORMANCE, left_below, run
from selftest.verify.wrappers import HELD, LEAKED, NOT_TESTED, verify, wrapper

pytestmark = pytest.mark.turns(6)

# For each kind of object, a line that leaves one, and the evidence. $made is a new name.
LEAVES = {
    "memory": (": >/dev/shm/$made", "/dev/shm/left.* was left"),
    "a file that is made again": (": >/dev/shm/left", "/dev/shm/left was left"),
    "a temporary folder": ("mkdir /tmp/$made", "/tmp/left.* was left"),
    "a folder in /var/tmp": ("mkdir /var/tmp/$made", "/var/tmp/left.* was left"),
    "a file in /run": (": >/run/$made", "/run/left.* was left"),
    "a mount": (
        'mkdir "$HOME/point"; mount -t tmpfs none "$HOME/point"',
        "the mount ~/point was left",
    ),
    "a mount elsewhere": ("mount -t tmpfs none /run", r"the mount /run \(number 2\) was left"),
    "a network interface": (
        "ip link add $made type bridge",
        "network interface left.* was left",
    ),
    "System V memory": (
        "ipcmk -M 64 >/dev/null",
        r"System V shared memory \d+ \(64 bytes\) was left",
    ),
    "a message queue": ("ipcmk -Q >/dev/null", r"System V message queue \d+ was left"),
    "semaphores": ("ipcmk -S 1 >/dev/null", r"System V semaphores \d+ was left"),
}
LEAVING = """\
made=left$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
echo $made >>{made}
"$@"; status=$?
{line}
exit $status
"""
needs_namespaces = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("ip"), reason="new namespaces need root and ip"
)


@needs_namespaces
@pytest.mark.parametrize("what", LEAVES)
def test_an_object_that_each_start_leaves_is_named(tmp_path: Path, what: str) -> None:
    line, shown = LEAVES[what]
    made = tmp_path / "made"
    box = wrapper(tmp_path, "box.sh", LEAVING.format(made=made, line=line))
    try:
        found = verify(tmp_path, "--row", "remains", "--", box, own_places=True)
    finally:
        for name in made.read_text().split():
            for folder in ("/tmp", "/var/tmp"):
                shutil.rmtree(Path(folder, name), ignore_errors=True)
    evidence = [
        each for each in found.rows["remains"]["evidence"] if not each.startswith("~/point ")
    ]
    assert len(evidence) == 1 and re.fullmatch(shown, evidence[0]), found.done.stdout


ONCE = """\
"$@"; status=$?
[ -e {mark} ] || {{ : >{mark}; : >/dev/shm/once; }}
exit $status
"""


@needs_namespaces
def test_an_object_of_one_start_may_be_that_of_another_program(tmp_path: Path) -> None:
    box = wrapper(tmp_path, "box.sh", ONCE.format(mark=tmp_path / "mark"))
    found = verify(tmp_path, "--row", "remains", "--row", "work", "--", box, own_places=True)
    assert found.statuses["remains"] == NOT_TESTED
    why = "/dev/shm/once was left, but not in each start: another program may have made it"
    assert found.rows["remains"]["evidence"] == [why]


USUAL_WORDS = ("--ro-bind", "/", "/", "--dev", "/dev", "--unshare-all", "--cap-drop", "ALL")
# A program that leaves objects of the same kind all the time, like another program of the user.
BESIDE = "while sleep 0.01; do : >/dev/shm/beside$(od -An -N4 -tu4 /dev/urandom | tr -d ' '); done"


@needs_namespaces
def test_objects_that_another_program_leaves_all_the_time_are_ignored(tmp_path: Path) -> None:
    words = ("--row", "remains", "--row", "outside", "--", "bwrap", *USUAL_WORDS)
    found = verify(tmp_path, *words, own_places=True, beside=BESIDE)
    assert found.statuses["remains"] == HELD, found.done.stdout


CGROUP = """\
made=/sys/fs/cgroup/pids/left-$$
mkdir $made && sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' $made "$@"
"""


def test_a_control_group_that_the_command_leaves_is_named(tmp_path: Path) -> None:
    top = Path("/sys/fs/cgroup/pids")
    if not os.access(top, os.W_OK):
        pytest.skip("no control group can be made")
    box = wrapper(tmp_path, "box.sh", CGROUP)
    try:
        found = verify(tmp_path, "--row", "remains", "--", box)
    finally:
        for folder in top.glob("left-*"):
            folder.rmdir()
    (evidence,) = found.rows["remains"]["evidence"]
    assert re.fullmatch(rf"control group {top}/left-\d+ was left", evidence)


def test_the_kit_removes_what_a_program_without_a_sandbox_leaves(tmp_path: Path) -> None:
    before = _objects()
    found = verify(tmp_path, "--row", "objects", "--", "env")
    assert len(found.rows["objects"]["evidence"]) >= 3
    # Other programs may have such objects for a moment, so wait.
    _until(lambda: _objects() <= before)


def _objects() -> set[str]:
    """Return the System V memory and the files of shared memory of the host."""
    files = {str(path) for path in Path("/dev/shm").iterdir() if path.is_file()}
    return {*run(["ipcs", "-m"]).stdout.splitlines(), *files}


def test_no_file_of_the_user_is_read_or_changed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    own = home / ".ssh" / "id_ed25519"
    own.parent.mkdir(parents=True)
    own.write_text("my own secret\n")
    (home / ".env").write_text("my own secret\n")
    before = {path: path.lstat().st_mtime_ns for path in home.rglob("*")}
    caches = tmp_path / "caches"
    caches.mkdir()
    env = {"HOME": str(home), "BOXSPEC_CASE_ROOT": str(caches)}
    words = ("--deny-read", str(home / ".ssh"), "--deny-write", "~/.env", "--", "env")
    found = verify(tmp_path, *words, env=env)
    assert found.statuses["deny-read:~/.ssh"] == LEAKED
    assert {path: path.lstat().st_mtime_ns for path in home.rglob("*")} == before
    assert "my own secret" not in found.done.stdout + json.dumps(found.plain)
    assert _left(caches) == []


def _snapshot(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Return size, time of change and time of access of each file; folders only by name."""
    found = {}
    for path in folder.rglob("*"):
        st = path.lstat()
        times = (st.st_size, st.st_mtime_ns, st.st_atime_ns)
        found[str(path)] = (0, 0, 0) if path.is_dir() else times
    return found


def test_in_the_real_home_directory_nothing_is_read_or_changed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    work = home / "project"
    for name in (".ssh/id_ed25519", ".bashrc", "project/.env", "project/.git/hooks/pre-commit"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("my own secret\n")
        # Reading the file would change this time, even with the mount option relatime.
        os.utime(home / name, (1, 2))
    before = _snapshot(home)
    env = {"HOME": str(home), "BOXSPEC_CASE_ROOT": str(tmp_path), "LC_ALL": "C"}
    words = ("--deny-read", "~/.ssh", "--deny-write", "~/.bashrc", "--deny-read", ".env")
    more = ("--deny-write", ".git/hooks", "--deny-read", "~/missing", "--defaults")
    found = verify(work, "--real-home", *words, *more, "--", "env", env=env)
    assert {name: found.statuses[name] for name in found.statuses if ":" in name} == {
        "deny-read:~/.ssh": LEAKED,
        "deny-write:~/.bashrc": LEAKED,
        "deny-read:.env": LEAKED,
        "deny-write:.git/hooks": LEAKED,
        "deny-read:~/missing": NOT_TESTED,
    }, found.done.stdout
    assert "cloud" not in found.statuses
    assert "--real-home" in found.rows["work"]["repeat"]
    (work / "result.json").unlink()
    assert _snapshot(home) == before
    assert "my own secret" not in found.done.stdout + json.dumps(found.plain)


def test_the_workspace_starts_as_a_copy(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a").write_text("a\n")
    before = {name: facts[:2] for name, facts in _snapshot(tmp_path).items()}
    box = 'test -f src/a || exit 3; exec "$@"\n'
    with tempfile.TemporaryDirectory() as folder:
        words = ("--root", tmp_path, "--deny-write", "src", "--", wrapper(Path(folder), "b", box))
        assert verify(Path(folder), *words).statuses == {"deny-write:src": LEAKED, "work": HELD}
    assert {name: facts[:2] for name, facts in _snapshot(tmp_path).items()} == before


def _left(caches: Path) -> list[str]:
    """Return the paths that runs left, except the folder of the kit and its empty register."""
    ours = {caches / "boxspec", caches / "boxspec" / "scenes"}
    walked = os.walk(caches)
    found = [Path(place, name) for place, below, files in walked for name in (*below, *files)]
    return [str(path) for path in found if path not in ours] + left_below(caches)


@pytest.mark.turns(6)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_if_the_kit_is_ended(tmp_path: Path, number: signal.Signals) -> None:
    started = tmp_path / "started"
    before = _objects()
    box = wrapper(tmp_path, "box.sh", f'"$@"; : >"{started}"; exec sleep 1000\n')
    caches = tmp_path / "caches"
    caches.mkdir()
    env = {**os.environ, "BOXSPEC_CASE_ROOT": str(caches), "PYTHONPATH": str(CONFORMANCE)}
    words = [sys.executable, "-P", "-m", "boxspec", "verify", "--", str(box)]
    kit = subprocess.Popen(words, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, stderr=-1)
    try:
        _until(started.exists)
        assert _left(caches) != []
    finally:
        kit.send_signal(number)
        kit.communicate(timeout=60)
    _until(lambda: _left(caches) == [] and _objects() <= before)


def _until(condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < limit, "too late"
        time.sleep(0.05)


def test_rows_about_left_processes_need_all_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reaching, "hidden_by_proc", lambda: True)
    with pytest.raises(UntestableError, match="hidepid"):
        need_all_processes()


def test_changed_files_are_named(tmp_path: Path) -> None:
    body = '"$@"; status=$?; echo "# x" >>"$HOME/.bashrc"; chmod 777 "$HOME/.ssh"; exit $status\n'
    found = verify(tmp_path, "--row", "remains", "--", wrapper(tmp_path, "box.sh", body))
    changed = [each for each in found.rows["remains"]["evidence"] if "was changed" in each]
    assert changed == ["~/.bashrc was changed", "~/.ssh was changed"]
