"""Help texts: their examples are valid commands, and lists fit the terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import shlex
import struct
import subprocess
import sys
import termios

import pytest

from boxspec.cli.verbs import EXAMPLES, VERBS
from install.manual import parser_of
from selftest.tools import ROOT, boxspec, requirements


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb_has_examples_that_it_takes(verb: str) -> None:
    shown = parser_of(verb).format_help()
    assert "\nexamples:\n  boxspec " in shown
    for command in EXAMPLES[verb]:
        assert f"\n  boxspec {command}" in shown
        name, *words = shlex.split(command)
        assert name == verb
        parser_of(verb).parse_args(words)


def test_the_topics_have_a_line_each() -> None:
    done = boxspec("list", "--topics", "--contract", "exec")
    lines = done.stdout.splitlines()
    ids = [each["id"] for each in requirements("exec")]
    assert [line.split()[0] for line in lines[:-1]] == list(
        dict.fromkeys(name.rpartition("-")[0] for name in ids)
    )
    assert sum(int(line.split()[2]) for line in lines[:-1]) == len(ids)
    assert lines[-1] == f"{len(lines) - 1} topics, {len(ids)} requirements"


def on_a_terminal(columns: int, *words: str) -> list[str]:
    """Return the output on a terminal with this many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "boxspec", *words], stdout=theirs, stdin=theirs, cwd=ROOT
    )
    os.close(theirs)
    said = b""
    try:
        while part := os.read(ours, 65536):
            said += part
    except OSError:
        pass  # Linux reports EIO at the end of a terminal
    finally:
        os.close(ours)
        assert process.wait() == 0
    return said.decode().splitlines()


@pytest.mark.parametrize("columns", [60, 140])
def test_a_list_fits_its_terminal_and_leaves_nothing_out(columns: int) -> None:
    lines = on_a_terminal(columns, "list", "--topic", "EXEC-KILL")
    assert max(map(len, lines)) < columns
    words = " ".join(lines).split()
    for each in requirements("exec"):
        if each["id"].startswith("EXEC-KILL-"):
            assert each["id"] in words
            assert each["clause"] in " ".join(words)


def test_a_pitfall_is_explained() -> None:
    said = boxspec("explain", "b5").stdout
    assert said.startswith("B5  pitfall: whole group gets the signal\n")
    assert "test_every_member_of_the_group_gets_the_deadlines_sigterm" in said
    assert "EXEC-KILL-01" in said
    assert "no test shows it: needs a process" in boxspec("explain", "G18").stdout
