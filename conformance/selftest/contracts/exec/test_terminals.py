"""Tests of the terminals that debug tests use: a process that writes to a terminal or keeps it open
does not block the kit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.exec.terminal_ends import NOT_STOPPED, how_two_ended
from contracts.exec.terminal_reader import Reader, all_of
from contracts.shared.runs import RunAnswer


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


@pytest.mark.parametrize(
    ("texts", "conforms"),
    [
        (("got words\n", "got words\n"), True),
        (("got wo\n", "got rdswords\n"), True),
        (("got words\n", "got \n"), False),
        (("got wo\n", "got rds\n"), False),
    ],
)
def test_two_readers_may_share_the_typed_lines(texts: tuple[str, str], conforms: bool) -> None:
    fields = {"success": True, "exit_code": 0, "stderr": "", "duration_ms": 10}
    runs = [RunAnswer({"result": {**fields, "stdout": text}}) for text in texts]
    assert (how_two_ended(runs) == [NOT_STOPPED] * 2) is conforms
