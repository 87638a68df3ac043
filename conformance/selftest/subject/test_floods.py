"""Tests of shims with endless output, and of the limits on what they can write to the folder of
their case."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from boxspec.subject.client.streams import MOST_READ, Streams
from boxspec.subject.floods import MOST_BYTES, Floods
from boxspec.subject.observe.warden import Warden


class FakeWarden:
    """The parts of a warden that these tests use."""

    def __init__(self) -> None:
        self.ended_for = ""
        self.swept = threading.Event()

    def command(self, line: str) -> None:
        self.swept.set()


@pytest.fixture
def floods() -> Iterator[Floods]:
    made = Floods()
    yield made
    made.close()


def watched(floods: Floods, file: Path) -> FakeWarden:
    made = FakeWarden()
    floods.watch(cast(Warden, made), [file])
    return made


def long(file: Path, size: int) -> Path:
    file.touch()
    with file.open("r+b") as opened:
        opened.truncate(size)
    return file


def a_file(folder: Path) -> None:
    folder.touch()


def a_link_to_itself(folder: Path) -> None:
    folder.symlink_to(folder)


@pytest.mark.parametrize("in_its_place", [a_file, a_link_to_itself])
def test_a_folder_that_is_none_any_more_leaves_the_others_their_ceiling(
    in_its_place: Callable[[Path], None], floods: Floods, tmp_path: Path
) -> None:
    in_its_place(tmp_path / "case")
    gone = watched(floods, tmp_path / "case" / "stdout")
    other = watched(floods, long(tmp_path / "stdout", MOST_BYTES + 1))
    assert other.swept.wait(10)
    assert not gone.swept.is_set()
    floods.forget(cast(Warden, gone))


def test_the_target_of_a_link_keeps_its_length(floods: Floods, tmp_path: Path) -> None:
    named = long(tmp_path / "named", MOST_READ + 1)
    (tmp_path / "stdout").symlink_to(named)
    floods.forget(cast(Warden, watched(floods, tmp_path / "stdout")))
    assert named.stat().st_size == MOST_READ + 1
    floods.forget(cast(Warden, watched(floods, named)))
    assert named.stat().st_size == MOST_READ


def test_the_target_of_a_link_is_not_quoted(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("known to the kit alone")
    streams = Streams(tmp_path, {})
    try:
        (tmp_path / "stderr").write_text("said")
        assert streams.captured("stderr") == b"said"
        (tmp_path / "stderr").unlink()
        (tmp_path / "stderr").symlink_to("secret")
        assert streams.captured("stderr") == b""
    finally:
        streams.close()
