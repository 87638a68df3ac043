"""Tests of the host names that a traced start looks up."""

from __future__ import annotations

from pathlib import Path

import pytest

from boxspec.verify.lookups import (
    Lookup,
    could_be_planted,
    deepest,
    executed,
    folders_to_make,
    lookups,
)

ROOT, HOME = Path("/home/u/work"), Path("/home/u")
LOG = """\
12 execve("./hook", ["./hook"], 0x7ffd /* 3 vars */) = -1 ENOENT (No such file or directory)
12 newfstatat(AT_FDCWD</home/u/work>, ".boxrc", 0x7f, 0) = -1 ENOENT (No such file or directory)
13 openat(3</home/u/.config>, "box/a\\40\\303\\251", O_RDONLY) = -1 ENOENT (No such file)
13 openat(AT_FDCWD</>, "/home/u/box.d", O_RDONLY|O_CLOEXEC|O_DIRECTORY) = -1 ENOENT (No such file)
13 access("/tmp/box.env", R_OK) = -1 ENOENT (No such file or directory)
13 access("/etc/ld.so.preload", R_OK) = -1 ENOENT (No such file or directory)
14 mount("tmpfs", "/home/u/tmp", "tmpfs", MS_NODEV, NULL) = 0
14 symlink("pts/ptmx", "/dev/ptmx") = 0
14 chdir("/tmp") = 0
14 mkdir("box", 0755) = 0
13 +++ exited with 0 +++
"""


def test_names_below_the_folders_are_found() -> None:
    found = lookups(LOG, (ROOT, HOME), [Path("/tmp")])
    assert [(str(each.path), each.is_listed) for each in found] == [
        ("/home/u/work/hook", False),
        ("/home/u/hook", False),
        ("/home/u/work/.boxrc", False),
        ("/home/u/.config/box/a é", False),
        ("/home/u/box.d", True),
        ("/tmp/box.env", False),
        ("/tmp", False),
        ("/tmp/box", False),
    ]
    assert found[-4].script == Path("/home/u/box.d/00-first.sh")


@pytest.mark.parametrize(
    ("name", "possible"),
    [
        ("missing", True),
        ("missing/below", True),
        ("file", True),
        ("file/below", False),
        ("missing.json", False),
        (".git/config", True),
        (".git/HEAD", False),
        ("folder", False),
    ],
)
def test_a_script_can_stand_where_no_folder_and_no_data_is(
    tmp_path: Path, name: str, possible: bool
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    assert could_be_planted(Lookup(tmp_path / name, is_listed=False)) is possible


def test_executed_programs_are_named_if_they_start() -> None:
    log = '12 execve("/usr/bin/bwrap", ["bwrap", "a = 0"], 0x7ffd /* 3 vars */) = 0\n'
    assert executed(f'{LOG}{log}12 execve("/bin/firejail", ["firejail"]) = -1 ENOENT\n') == {
        "bwrap"
    }


def test_a_missing_name_without_a_suffix_may_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    names = ("here", "lib", "a.so", ".boxrc", "none/below")
    found = [Lookup(tmp_path / name, is_listed=False) for name in names]
    assert folders_to_make([*found, *found]) == [tmp_path / "lib"]


def test_a_name_with_names_below_it_is_a_folder() -> None:
    paths = [Path("/a/lib"), Path("/a/lib/x.so"), Path("/a/library"), Path("/a/lib/x.so")]
    assert deepest(paths) == [Path("/a/lib/x.so"), Path("/a/library")]
