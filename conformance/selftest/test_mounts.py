"""Tests of the mounts: the path of a file in its own file system, and the mounts below a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from boxspec import mounts

LIST = """\
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
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: LIST)
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
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: LIST)
    assert [str(each) for each in mounts.mounted_below(Path(folder))] == points
