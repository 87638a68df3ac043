"""Tests of the terminals that debug tests use: a process that writes to a terminal or keeps it open
does not block the kit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.exec.terminal_reader import Reader, all_of


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ours, theirs = os.pipe()
    yield ours, theirs
    os.close(ours)
    os.close(theirs)


def test_a_reader_does_not_wait_for_a_process_that_holds_its_terminal(
    pipe: tuple[int, int],
) -> None:
    ours, theirs = pipe
    reader = Reader(ours)
    reader.start()
    os.write(theirs, b"copied")
    assert not reader.came_to_the_end(0.3)
    assert (reader.read, reader.is_alive()) == (b"copied", False)


def test_available_data_is_read_from_an_endless_terminal() -> None:
    # /dev/zero always has more to read, like a terminal to which a process writes faster than the
    # kit reads.
    with Path("/dev/zero").open("rb", buffering=0) as endless:
        assert set(all_of(endless.fileno(), 0.05)) == {0}
