"""Tests of the folders of killed runs: the next run removes them, also if several runs start at
once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from boxspec.folders import delete, make, remove_listed
from selftest.tools import CONFORMANCE


def test_a_listed_folder_is_removed_and_then_its_entry(tmp_path: Path) -> None:
    folder, entry = tmp_path / "folder", tmp_path / "entry"
    (folder / "below").mkdir(parents=True)
    entry.write_text(json.dumps(str(folder)) + "\n")
    remove_listed(entry, delete)
    assert list(tmp_path.iterdir()) == []


def test_an_entry_stays_if_its_folder_stays(tmp_path: Path) -> None:
    entry = tmp_path / "entry"
    entry.write_text(json.dumps(str(tmp_path / "folder")) + "\n")
    remove_listed(entry, lambda path: False)
    assert entry.exists()


def test_an_entry_that_another_run_removed_is_no_error(tmp_path: Path) -> None:
    remove_listed(tmp_path / "entry", delete)


# Prints the folder of a process in another time namespace, and waits for the end of its input.
ELSEWHERE = """
from pathlib import Path; from boxspec import folders; import sys
print(folders.make(Path(sys.argv[1])), flush=True); sys.stdin.read()"""


@pytest.mark.skipif(os.geteuid() != 0, reason="a new time namespace needs root")
def test_a_folder_of_a_run_in_another_time_namespace_is_used(tmp_path: Path) -> None:
    words = ["unshare", "--time", "--boottime", "1000000", "--fork", "--kill-child"]
    with subprocess.Popen(
        [*words, sys.executable, "-P", "-c", ELSEWHERE, tmp_path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(CONFORMANCE)},
    ) as other:
        assert other.stdout is not None
        theirs = Path(other.stdout.readline().strip())
        make(tmp_path)
        assert theirs.is_dir()
        other.communicate()
    make(tmp_path)
    assert not theirs.exists()


# Mounts a directory of the "host" below a folder, and removes the folder by the code in $0.
MOUNTED = """
mkdir -p folder/a/point folder/b host && : >host/file && chmod 755 host &&
mount --bind host folder/a/point && "$1" -P -c "$0" && stat -c '%a %n' host host/file"""
DELETE = (
    "from pathlib import Path; from boxspec.folders import delete; print(delete(Path('folder')))"
)
JANITOR = """
import os
from pathlib import Path
from boxspec.verify.janitor import Janitor
with Janitor() as janitor:
    janitor.remove(Path("folder").absolute())
print(os.path.exists("folder"))"""


@pytest.mark.skipif(os.geteuid() != 0, reason="to mount needs root")
@pytest.mark.parametrize(
    ("code", "left"), [(DELETE, ["folder", "folder/a"]), (JANITOR, [])], ids=["a run", "verify"]
)
def test_nothing_is_removed_from_a_mounted_directory(
    tmp_path: Path, code: str, left: list[str]
) -> None:
    # The mount is in a new namespace, so that it ends with the processes.
    private = ("unshare", "--mount", "--propagation", "private", "sh", "-c")
    done = subprocess.run(
        [*private, MOUNTED, code, sys.executable],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(CONFORMANCE), "BOXSPEC_CASE_ROOT": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == ["False", "755 host", "644 host/file"], done.stderr
    found = [str(each.relative_to(tmp_path)) for each in tmp_path.glob("folder/**/")]
    assert found == [*left, *(["folder/a/point"] if left else [])]
