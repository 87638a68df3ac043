"""Tests of the mounts: the path of a file in its own file system, and the mounts below a folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from boxspec import mounts

LIST = b"""\
1 0 8:1 / / rw - ext4 d rw
2 1 8:2 /covered /w\\040s rw - ext4 d rw
3 1 8:2 /in\\040side /w\\040s rw - ext4 d rw
4 1 8:1 /other /w\\040s-more rw - ext4 d rw
"""


@pytest.mark.parametrize(
    ("path", "inner"),
    [
        ("/w s/dir/file", "/in side/dir/file"),
        ("/w s", "/in side"),
        ("/w s-more/file", "/other/file"),
        ("/w/file", "/w/file"),
    ],
)
def test_the_last_mount_above_a_file_counts(
    monkeypatch: pytest.MonkeyPatch, path: str, inner: str
) -> None:
    monkeypatch.setattr(Path, "read_bytes", lambda _: LIST)
    assert mounts.inner_path(Path(path)) == inner


@pytest.mark.parametrize(
    ("folder", "points"),
    [
        ("/w s", ["/w s", "/w s"]),
        ("/w s-more", ["/w s-more"]),
        ("/w", []),
        ("/", ["/", "/w s", "/w s", "/w s-more"]),
    ],
)
def test_the_mounts_at_and_below_a_folder_are_found(
    monkeypatch: pytest.MonkeyPatch, folder: str, points: list[str]
) -> None:
    monkeypatch.setattr(Path, "read_bytes", lambda _: LIST)
    assert [str(each) for each in mounts.mounted_below(Path(folder))] == points


@pytest.mark.parametrize("name", [b"a\rb", b"a\x0bb", b"a\xe2\x80\xa8b", b"a\xffb"])
def test_a_mount_point_with_an_odd_name_is_found(
    monkeypatch: pytest.MonkeyPatch, name: bytes
) -> None:
    found = LIST + b"5 1 8:3 / /w/%s rw - tmpfs t rw\n" % name
    monkeypatch.setattr(Path, "read_bytes", lambda _: found)
    assert mounts.mounted_below(Path("/w")) == [Path("/w") / os.fsdecode(name)]
