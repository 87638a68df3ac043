"""The path of a file in its own file system."""

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
