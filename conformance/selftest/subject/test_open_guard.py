"""Files of a run that would make a test wait are refused."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from boxspec.errors import ShimBroke
from boxspec.subject import open_guard


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Path]:
    open_guard.guard(tmp_path)
    yield tmp_path
    open_guard.release(tmp_path)


def _low_level(path: Path) -> None:
    os.close(os.open(path, os.O_RDONLY))


@pytest.mark.parametrize(
    "use",
    [Path.read_bytes, Path.read_text, lambda path: path.write_bytes(b"x"), _low_level],
    ids=["read_bytes", "read_text", "write_bytes", "os.open"],
)
@pytest.mark.parametrize("target", ["fifo", "link to a fifo", "link to a device"])
def test_a_file_replaced_by_one_that_never_ends_is_refused(
    guarded: Path, target: str, use: Callable[[Path], object]
) -> None:
    path = guarded / "file"
    if target == "link to a device":
        path.symlink_to("/dev/zero")
    elif target == "link to a fifo":
        os.mkfifo(guarded / "other")
        path.symlink_to(guarded / "other")
    else:
        os.mkfifo(path)
    with pytest.raises(ShimBroke, match="file is no regular file any more"):
        use(path)


def test_ordinary_files_can_be_made_written_and_read(guarded: Path) -> None:
    path = guarded / "file"
    path.write_text("a")
    assert path.read_text() == "a"
    with pytest.raises(FileNotFoundError):
        (guarded / "missing").read_text()


def test_an_open_that_cannot_wait_is_allowed(guarded: Path) -> None:
    os.mkfifo(guarded / "fifo")
    os.close(os.open(guarded / "fifo", os.O_RDONLY | os.O_NONBLOCK))
    os.close(os.open(guarded / "fifo", os.O_PATH))


def test_an_expected_fifo_can_be_opened(guarded: Path) -> None:
    os.mkfifo(guarded / "fifo")
    reader = threading.Thread(target=_read_expected, args=(guarded / "fifo",))
    reader.start()
    with open_guard.expect_fifo():
        (guarded / "fifo").write_bytes(b"x")
    reader.join()


def _read_expected(path: Path) -> None:
    with open_guard.expect_fifo():
        assert path.read_bytes() == b"x"


def test_files_outside_and_after_the_release_are_not_looked_at(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "file").symlink_to("/dev/null")
    (tmp_path / "beside").symlink_to("/dev/null")
    open_guard.guard(inside)
    assert (tmp_path / "beside").read_bytes() == b""
    open_guard.release(inside)
    assert (inside / "file").read_bytes() == b""
