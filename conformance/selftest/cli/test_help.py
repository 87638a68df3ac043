"""Tests of the help texts: their examples are valid commands, and lists fit the terminal."""

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

from boxspec.cli.arguments import OUTPUTS
from boxspec.cli.outputs import FORMATS
from boxspec.cli.verbs import EXAMPLES, GROUPS, VERBS
from install.manual import DEV_VERBS, parser_of
from selftest.tools import ROOT, boxspec, requirements


@pytest.mark.parametrize("verb", [*VERBS, *DEV_VERBS])
def test_the_help_of_a_verb_has_examples_that_it_takes(verb: str) -> None:
    shown = parser_of(verb).format_help()
    assert "\nexamples:\n  boxspec " in shown
    for command in EXAMPLES[verb]:
        assert f"\n  boxspec {command}" in shown
        assert command.startswith(verb)
        words = shlex.split(command.removeprefix(verb))
        parser_of(f"dev {words.pop(0)}" if verb == "dev" else verb).parse_args(words)


@pytest.mark.parametrize("verb", ["run", "report"])
def test_both_verbs_take_each_output_with_the_same_help(verb: str) -> None:
    shown = " ".join(parser_of(verb).format_help().split())
    for flag, about in OUTPUTS.items():
        assert f"{flag} FILE {about}" in shown


def test_each_output_has_a_renderer() -> None:
    assert {*OUTPUTS} == {*FORMATS, "--html", "--badge"}


def test_help_names_each_verb_in_its_group_with_an_example() -> None:
    done = boxspec("--help")
    assert done.returncode == 0
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == "usage: boxspec VERB [OPTION...]"
    for title, verbs in GROUPS.items():
        at = lines.index(title)
        for number, name in enumerate(verbs):
            assert lines[at + 2 * number + 1].split()[0] == name
            assert lines[at + 2 * number + 2].strip().startswith(f"boxspec {name}")
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize(
    ("old", "new"), [("faults", "dev faults"), ("pages", "dev pages"), ("peers", "products")]
)
def test_an_old_verb_names_the_new_one(old: str, new: str) -> None:
    done = boxspec(old, "--list")
    assert done.returncode == 2
    assert f"boxspec {old}: is now boxspec {new} " in done.stderr
    assert done.stderr.count("\n") == 1


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
