"""Tests of a product that crashes, hangs or removes the workspace, and of a full disk: each gets a
verdict, and no process or file is left."""

from __future__ import annotations

import errno
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from contracts.backend.ground import made_ground

pytestmark = pytest.mark.turns(6)

# A duration that no other process uses, so that it identifies the processes of this test.
FOREVER = "98765.25"
TROUBLE = f"""
from pathlib import Path

from products.adapter import EVERYTHING, Adapter

CRASHES = ["/bin/sh", "-c", "kill -SEGV $$"]
HANGS = ["/bin/sleep", "{FOREVER}"]
BEGINS = "echo '{{\\"sibling\\": true}}'; "
VANISHES = ["/bin/sh", "-c", 'rm -rf "$0"; exec "$@"']

def probe(argv):
    # The name of the probe is in the file of its parameters, which is encoded by its first byte.
    given = Path(argv[-1])
    if not given.is_file() or len(argv) != 2:
        return ""
    key, *rest = given.read_bytes()
    lines = bytes(byte ^ key for byte in rest).decode(errors="replace").splitlines()
    return next((line[6:] for line in lines if line.startswith("armed=")), "")

class Product(Adapter):
    program = "env"
    claims = EVERYTHING

    def command(self, argv, asked):
        match probe(argv):
            case "w_chmod":
                return CRASHES
            case "w_chown":
                return HANGS
            # The allowed write works, but the result of the attempt is unknown.
            case "w_setxattr":
                return ["/bin/sh", "-c", BEGINS + "kill -SEGV $$"]
            case "w_removexattr":
                return ["/bin/sh", "-c", BEGINS + "exec sleep {FOREVER}"]
            case "w_utimes":
                return [*VANISHES, asked.root, *argv]
        return argv
"""


def states(folder: Path, cases: Path, *before: str) -> dict[str, str]:
    """Return the states of the tested cells, by probe. before: a command that runs the kit."""
    (folder / "trouble.py").write_text(TROUBLE)
    temporary = folder / "tmp"
    temporary.mkdir()
    out = folder / "matrix.json"
    argv = [sys.executable, "-P", "-m", "boxspec", "products", "matrix", str(folder / "trouble.py")]
    argv += ["--topic", "BACKEND-META", "--json", str(out)]
    env = {**os.environ, "TMPDIR": str(temporary), "BOXSPEC_CASE_ROOT": str(cases)}
    done = subprocess.run([*before, *argv], env=env, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    assert list(temporary.iterdir()) == []
    assert [pid for pid in Path("/proc").glob("[0-9]*") if _sleeps(pid)] == []
    (column,) = json.loads(out.read_text())["backends"]
    cells: list[dict[str, Any]] = column["cells"]
    # No adapter has strict_metadata, so that its cells are not tested.
    return {cell["probe"]: cell["state"] for cell in cells if cell["state"] != "not asked"}


def _sleeps(pid: Path) -> bool:
    try:
        return FOREVER.encode() in (pid / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


@pytest.mark.turns(10)
def test_crashes_hangs_and_a_lost_workspace_are_verdicts(tmp_path: Path) -> None:
    cases = tmp_path / "cases"
    found = states(tmp_path, cases)
    names = ("w_chmod", "w_chown", "w_utimes", "w_setxattr", "w_removexattr")
    troubled = {name: found.pop(name) for name in names}
    assert set(troubled.values()) == {"unproven"}
    assert set(found.values()) == {"escaped"}
    assert_only_the_register(cases)


def assert_only_the_register(cases: Path) -> None:
    """Assert that no workspace is left. Only the register stays, which names the owners to the next
    run."""
    register = cases / "boxspec" / "grounds"
    others = [each for each in cases.rglob("*") if register not in each.parents]
    assert sorted(others) == [register.parent, register]


def test_a_full_disk_is_a_verdict(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    within = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*within, "true"], check=False, capture_output=True).returncode:
        pytest.skip("there are no user namespaces to mount a small disk in")
    # The mount is in a new namespace, so that it ends with the command. Leftovers are counted
    # inside that namespace.
    left = tmp_path / "left"
    script = f"""
        mount -t tmpfs -o size=128k small {shlex.quote(str(small))} || exit 9
        "$@" || exit
        cd {shlex.quote(str(small))}
        find . -mindepth 1 ! -path ./boxspec ! -path './boxspec/grounds*' >{shlex.quote(str(left))}
    """
    # The trust checks already need a workspace, so no cell is tested.
    assert states(tmp_path, small, *within, "sh", "-c", script, "sh") == {}
    (column,) = json.loads((tmp_path / "matrix.json").read_text())["backends"]
    assert column["why"].startswith("no score: ")
    assert "No space left on device" in column["why"]
    assert left.read_text() == ""


def test_a_ground_that_cannot_be_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setenv("BOXSPEC_CASE_ROOT", str(tmp_path))
    monkeypatch.setattr("shutil.copyfile", full)
    with pytest.raises(OSError, match="No space left"), made_ground():
        pytest.fail("it was made")
    assert_only_the_register(tmp_path)
