"""Tests of the console output of a run about texts of a shim, and about a shim that died."""

from __future__ import annotations

import re

import pytest

from boxspec.printable import one_line
from boxspec.subject.death import died
from boxspec.subject.observe.warden import Exit
from selftest.report.console_text import console_text
from selftest.trees import MUST, failed, record, tree

# Texts of a shim -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("plain, é, 漢字, 🎉", "plain, é, 漢字, 🎉"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\x1b[31mred\x9b0m", "\\x1b[31mred\\x9b0m"),
        ("\u202egnp\u2028\ufeff\udce9", "\\u202egnp\\u2028\\ufeff\\udce9"),
        ("::error::no", "\\::error::no"),
        ("  ::set-output::", "  \\::set-output::"),
        ("x ##[error]y ##vso[a]", "x #\\#[error]y #\\#vso[a]"),
    ],
)
def test_control_characters_are_shown_escaped(said: str, shown: str) -> None:
    assert one_line(said) == shown == one_line(shown)


def test_no_line_of_a_block_is_the_shims() -> None:
    evil = "x\n::error::forged\x1b[2J\rok"
    why = failed(evil, evil, evidence={evil: [evil], "shim stderr": f"one\n{evil}"})
    made = record(MUST, why)
    made.request = evil
    found = tree([made], hello={"implementation": {"name": evil, "version": evil}})
    text = console_text(found)
    assert "\x1b" not in text
    assert "\r" not in text
    assert not re.search(r"^\s*::", text, re.M)


# A shim that died ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "number", "sent", "got", "judged"),
    [
        ("exited", 3, [], "the shim exited 3 without", "the shim keeps to the protocol"),
        ("killed", 11, [], "died of SIGSEGV", "the shim lives until it has answered"),
        ("killed", 9, [15], "died of SIGKILL", "the shim lives until it has answered"),
        (
            "killed",
            15,
            [15],
            "died of SIGTERM, sent by the test, for which it had no handler",
            "the caller of a run survives its signals",
        ),
        (
            "killed",
            2,
            [],
            "died of SIGINT, for which it had no handler",
            "the caller of a run survives its signals",
        ),
    ],
)
def test_a_death_without_a_response_names_the_signal(
    how: str, number: int, sent: list[int], got: str, judged: str
) -> None:
    made = record(MUST, died(Exit(how, number, 0), {}, sent))
    assert got in made.got
    assert made.what == judged
