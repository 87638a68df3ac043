"""EXEC-ENV: the environment of the child."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from boxspec.api import expect, requires
from boxspec.api import programs as P
from contracts.exec.client import ExecCase, RunOptions
from contracts.exec.spawn_io import report

# Under a locale without UTF-8, some runtimes add variables, which would make the comparison fail.
LOCALE = {"LC_ALL": "C.UTF-8"}

PAIRS: dict[str, list[tuple[str | bytes, str | bytes]]] = {
    "nothing": [],
    "one": [("A", "1")],
    "an empty value": [("EMPTY", "")],
    "a value with equal signs": [("A", "b=c=d")],
    "a value with newlines": [("A", "one\ntwo\n")],
    "a value like a template": [("A", "$B ${PATH} %PATH% ~ `id` \\$A"), ("B", "/x")],
    "a name like the loader's": [("LD_BOXSPEC", "x"), ("_", "y")],
    "a name with a blank": [("TWO WORDS", "x")],
    "blanks at the ends": [(" NAME ", "x"), ("A", " x "), ("B", "\tx\n"), ("C", " ")],
    "quotes around a value": [("A", '"x"'), ("B", "'y'"), ("C", '"'), ("D", "`z`")],
    "many": [(f"N{i}", str(i)) for i in range(2000)],
    "a long value": [("LONG", "x" * 100_000)],
}


def child_environment(found: dict[str, object]) -> list[bytes]:
    entries = found["env_b64"]
    assert isinstance(entries, list)
    return sorted(base64.b64decode(entry) for entry in entries)


def entries(pairs: list[tuple[str | bytes, str | bytes]]) -> list[bytes]:
    return sorted(os.fsencode(name) + b"=" + os.fsencode(value) for name, value in pairs)


ODD = {
    "BOXSPEC_EMPTY": "",
    "BOXSPEC_EQUALS": "a=b",
    "BOXSPEC_LINES": "a\nb",
    "BOXSPEC_BLANKS": " x ",
    "BOXSPEC_QUOTES": '"x"',
    "BOXSPEC_TEMPLATE": "$LC_ALL ${LC_ALL} ~ `id`",
    "boxspec.dotted": "x",
    "BASH_FUNC_boxspec%%": "() {  :\n}",
    **LOCALE,
}


@requires("EXEC-ENV-01")
@pytest.mark.parametrize("folder", [None, "/"], ids=["here", "elsewhere"])
def test_by_default_the_child_has_the_callers_environment(
    case: ExecCase, folder: str | None
) -> None:
    events, fifo = case.events(), case.fifo("gate")
    request: RunOptions = {} if folder is None else {"current_dir": folder}
    args = [events.path, str(fifo)]
    request |= {"program": P.gate, "args": args, "shim_env": ODD}
    with case.exec.start(**request) as shim:
        child = events.wait("ready").pid
        got, own = (
            sorted(Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"))
            for pid in (child, shim.shim_pid)
        )
    expect("the child's environment, compared with the caller's", got, own)


@requires("EXEC-ENV-01", capability="exec.bytes")
def test_inherited_bytes_that_are_not_utf8_arrive_unchanged(case: ExecCase) -> None:
    raw = {"BOXSPEC_RAW": os.fsdecode(b"\xff\xfe caf\xe9"), **LOCALE}
    got = child_environment(report(case, env="inherit", shim_env=raw))
    expect(
        "the variable that the child has",
        [e for e in got if b"RAW" in e],
        [b"BOXSPEC_RAW=\xff\xfe caf\xe9"],
    )


@requires("EXEC-ENV-02")
@pytest.mark.parametrize("vector", PAIRS)
def test_clear_and_set_gives_exactly_the_pairs(case: ExecCase, vector: str) -> None:
    found = report(case, env=PAIRS[vector], shim_env={"BOXSPEC_CALLER": "1"})
    expect("the child's environment", child_environment(found), entries(PAIRS[vector]))


@requires("EXEC-ENV-02")
def test_clear_and_set_gives_exactly_the_pairs_in_another_directory(case: ExecCase) -> None:
    pairs: list[tuple[str | bytes, str | bytes]] = [("A", "1"), ("PATH", os.defpath)]
    found = report(case, env=pairs, current_dir="/")
    expect("the child's environment", child_environment(found), entries(pairs))


@requires("EXEC-ENV-04")
def test_pairs_that_are_not_utf8_arrive_unchanged(case: ExecCase) -> None:
    pairs: list[tuple[str | bytes, str | bytes]] = [(b"RAW\xff", b"\xff\x80 \xc0"), ("A", "1")]
    expect("the child's environment", child_environment(report(case, env=pairs)), entries(pairs))


@requires("EXEC-ENV-03", pitfalls=["A20"])
@pytest.mark.parametrize(
    ("pairs", "wanted"),
    [
        ([("A", "1"), ("A", "2")], [b"A=2"]),
        ([("A", "1"), ("B", "x"), ("A", "")], [b"A=", b"B=x"]),
        ([("A", "1"), ("A", "2"), ("A", "1")], [b"A=1"]),
        ([("A", "1"), ("a", "2")], [b"A=1", b"a=2"]),
        ([("AB", "1"), ("A", "2"), ("AB", "3")], [b"A=2", b"AB=3"]),
    ],
    ids=["two", "empty-last", "three", "case-differs", "prefix"],
)
def test_only_the_last_of_duplicate_names_arrives(
    case: ExecCase, pairs: list[tuple[str | bytes, str | bytes]], wanted: list[bytes]
) -> None:
    expect("the child's environment", child_environment(report(case, env=pairs)), wanted)
