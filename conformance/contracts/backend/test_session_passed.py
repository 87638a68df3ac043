"""Values that a session passes on: those of `wrap`, and those of a request without a sandbox."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from boxspec.api import Verdict, expect, requires
from contracts.backend.client import BackendCase
from contracts.backend.ground import made_ground
from contracts.backend.reports import environment, report
from contracts.backend.scripted import scripted
from contracts.shared.files import script_at
from contracts.shared.requests import ExecRequest

SCRIPT = "backend.script"
OPENED = ["BACKEND-SESSION-01"]
PRINT = 'for word; do printf "%s\\0" "$word"; done'
# Words that a shell or a parser of command lines would change.
WORDS = ["", " ", "a b", "a\nb", "--", "-c", "*", "$HOME", "'", '"', "\\", "é", "x" * 5000, ""]


def words_of(output: bytes) -> list[str]:
    return [word.decode() for word in output.split(b"\0")[:-1]]


@requires("BACKEND-LIFE-02", capability=SCRIPT, needs=OPENED)
def test_each_word_of_wrap_arrives_unchanged(case: BackendCase) -> None:
    with made_ground() as ground:
        session = case.backend.run(
            [{"program": "/bin/true", "args": ["", "last"]}],
            script={"prefix": ["/bin/sh", "-c", PRINT, "sh", *WORDS]},
            on_unavailable="refuse",
            root=ground.ws,
            profile="repo-write",
        )
        wanted = [*WORDS, "/bin/true", "", "last"]
        expect("words that the wrapper got", words_of(session.only.stdout), wanted)


# More calls than fit in a table of 64 entries.
MANY = 65


@requires("BACKEND-LIFE-02", capability=SCRIPT, needs=OPENED)
def test_each_of_many_calls_is_wrapped(case: BackendCase) -> None:
    seen = scripted(case, "refuse", calls=MANY, within_s=60.0)
    expect("runs of the wrapped argv", seen.wrapped, MANY, verdict=Verdict.ESCAPED)
    expect("runs of the program", seen.runs, MANY)


# Variables that wrap adds. The request has the first two as well, with other values.
ADDED = [["GIVEN", ""], ["LONGER", "x" * 5000], ["EMPTY", ""], ["LINES", "a\nb=c"], ["EQUALS", "="],
         ["BLANKS", " x "], ["a.b", "1"], ["LD_BIND_NOW", ""], ["LC_ALL", ""]]  # fmt: skip


@requires("BACKEND-ENV-01", capability=SCRIPT, needs=OPENED)
def test_each_variable_of_wrap_arrives_unchanged(case: BackendCase) -> None:
    with made_ground() as ground:
        pairs = [["GIVEN", "1"], ["LONGER", "1"], ["KEPT", ""]]
        found = report(
            case,
            ground,
            call={"env": {"clear_and_set": pairs}},
            script={"env": ADDED},
            on_unavailable="refuse",
        )
        wanted = dict([*ADDED, ["KEPT", ""]])
        expect("the environment inside", environment(found), wanted)


# For each outcome of a backend, why its calls run without a sandbox.
LOST: dict[str, dict[str, Any]] = {
    "unavailable": {"probe": "unavailable"},
    "no prepare": {"prepare": "error"},
}
BYTES = b"first\nsecond \xc3\xa9\x00"
SHELL = "/bin/sh"
# Calls, and the stdout and the exit code of each.
CALLS: dict[str, tuple[ExecRequest, bytes, int]] = {
    "bytes as stdin": ({"program": "/bin/cat", "stdin": BYTES}, BYTES, 0),
    "no stdin": ({"program": "/bin/cat", "stdin": "null"}, b"", 0),
    "the caller's stdin": ({"program": "/bin/cat", "stdin": "inherit"}, BYTES, 0),
    "words": (
        {"program": SHELL, "args": ["-c", PRINT, "sh", *WORDS]},
        b"".join(word.encode() + b"\0" for word in WORDS),
        0,
    ),
    "an exit code": ({"program": SHELL, "args": ["-c", "echo x; exit 77"]}, b"x\n", 77),
    "pairs": (
        {"program": SHELL, "args": ["-c", 'echo "$A-$B"'], "env": [["A", " 1"], ["B", ""]]},
        b" 1-\n",
        0,
    ),
}


@requires("BACKEND-SESSION-04", capability=SCRIPT)
@pytest.mark.parametrize("why", LOST)
@pytest.mark.parametrize("what", CALLS)
def test_a_call_without_a_sandbox_runs_as_requested(case: BackendCase, what: str, why: str) -> None:
    call, stdout, code = CALLS[what]
    with made_ground() as ground:
        given = ground.folder / "given"
        given.write_bytes(BYTES)
        session = case.backend.run(
            [{"program": "/bin/true", "stdin": "null"}, call],
            script=LOST[why],
            on_unavailable="degrade",
            root=ground.ws,
            profile="repo-write",
            shim_stdin=Path(given),
        )
        got = session.calls[1]
        expect("stdout and exit code", (got.stdout, got.result["exit_code"]), (stdout, code))
        expect("the enforcement", got.result.get("enforcement"), "none")


@requires("BACKEND-SESSION-04", capability=SCRIPT)
@pytest.mark.parametrize("why", LOST)
def test_a_name_without_a_sandbox_is_searched_in_the_path_of_its_request(
    case: BackendCase, why: str
) -> None:
    """Give two programs of one name, in the PATH of the request and in that of the caller."""
    with made_ground() as ground:
        for folder in ("ours", "theirs"):
            (ground.folder / folder).mkdir()
            script_at(ground.folder / folder / "named", f"echo {folder}")
        call: ExecRequest = {"program": "named", "env": [["PATH", str(ground.folder / "ours")]]}
        session = case.backend.run(
            [call],
            script=LOST[why],
            on_unavailable="degrade",
            root=ground.ws,
            profile="repo-write",
            shim_env={"PATH": f"{ground.folder / 'theirs'}:/usr/local/bin:/usr/bin:/bin"},
        )
        expect("the program that ran", session.only.stdout, b"ours\n")
