"""EXEC-DRAIN, EXEC-TEXT, EXEC-STDIN and EXEC-ORPHAN, with each option that must not change the
result."""

from __future__ import annotations

from typing import Any

import pytest

from boxspec.api import expect
from boxspec.api import programs as P
from boxspec.judge.requires import Requires
from contracts.exec.client import ExecCase
from contracts.exec.crossing import MAY_FAIL, run_with_each_option
from contracts.exec.moments import expect_none_left
from contracts.exec.spawn_io import (
    digest,
    error_of,
    hash_line,
    hexes,
    outcome,
    pattern,
    shell_request,
    stream,
)
from contracts.shared.requests import ExecRequest

MIB = 2**20
PAYLOAD = pattern(300_000)


# If an option itself does not work, these requirements report it.
NEEDS = ("EXEC-DEBUG-01", "EXEC-CAP-02", "EXEC-CONC-05", "EXEC-STDIN-13")
# The program writes single bytes. So a reader that decodes each read separately gets incomplete
# characters.
SLOWLY = ["--each-byte", "--gap-us", "1000"]
WIDE = "é€😀".encode()
NO_TEXT = b"\xff|\xe2\x82|\xc0\x80|\xed\xa0\x80|\xf0\x9f"
KEPT = b"\n \0a\r\nb\x1b \n\n"


def expected(
    request: ExecRequest, out: bytes = b"", err: bytes = b"", code: int = 0
) -> tuple[Any, ...]:
    return request, (f"exit {code}", digest(out), digest(err))


def lossy(data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode()


def cases(named: dict[str, tuple[str, Any]]) -> pytest.MarkDecorator:
    """Parametrise a test over these cases. Each case names the requirement that it decides."""
    return pytest.mark.parametrize(
        "name",
        [
            pytest.param(name, marks=pytest.mark.requires(Requires((requirement,), needs=NEEDS)))
            for name, (requirement, _) in named.items()
        ],
    )


STREAMS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "much on both": (
        "EXEC-DRAIN-01",
        expected(
            {"program": P.flood, "args": [str(MIB), str(MIB), "--order", "mix"]},
            pattern(MIB),
            pattern(MIB, "A"),
        ),
    ),
    "a tail": (
        "EXEC-DRAIN-02",
        expected({"program": P.flood, "args": ["66890", "0"]}, pattern(66_890)),
    ),
    "a little, byte by byte": (
        "EXEC-DRAIN-02",
        expected({"program": P.emit, "args": ["--each-byte", *hexes(pattern(500))]}, pattern(500)),
    ),
    "words in turn": (
        "EXEC-DRAIN-03",
        expected({"program": P.emit, "args": [*hexes(b"one"), *hexes(b"two", flag="--err")] * 9},
                 b"one" * 9, b"two" * 9),
    ),
    "one closed early": (
        "EXEC-DRAIN-04",
        expected(
            shell_request('echo early; exec 1>&-; "$1" 0 200000 >&2; exit 3', P.flood),
            b"early\n",
            pattern(200_000, "A"),
            3,
        ),
    ),
    "characters in pieces": (
        "EXEC-TEXT-02",
        expected({"program": P.emit, "args": [*SLOWLY, *hexes(WIDE), *hexes(WIDE, flag="--err")]},
                 WIDE, WIDE),
    ),
    "invalid UTF-8": (
        "EXEC-TEXT-01",
        expected({"program": P.emit, "args": [*hexes(NO_TEXT), *hexes(NO_TEXT, flag="--err")]},
                 lossy(NO_TEXT), lossy(NO_TEXT)),
    ),
    "blanks and control characters": (
        "EXEC-TEXT-03",
        expected({"program": P.emit, "args": [*hexes(KEPT), *hexes(KEPT, flag="--err")]},
                 KEPT, KEPT),
    ),
    "nothing to read": (
        "EXEC-STDIN-02",
        expected({"program": P.hash_stdin, "stdin": "null"}, hash_line(b"")),
    ),
    "a payload": (
        "EXEC-STDIN-03",
        expected({"program": P.hash_stdin, "stdin": PAYLOAD}, hash_line(PAYLOAD)),
    ),
    "an empty payload": (
        "EXEC-STDIN-04",
        expected({"program": P.hash_stdin, "stdin": b""}, hash_line(b"")),
    ),
    "a payload that comes back": (
        "EXEC-STDIN-05",
        expected({"program": "/bin/cat", "stdin": PAYLOAD}, PAYLOAD),
    ),
    "a payload that is not read": (
        "EXEC-STDIN-06",
        ({"program": P.close_early, "args": ["/dev/null", "--in", "--then", "exit:0"],
          "stdin": PAYLOAD}, None),
    ),
}  # fmt: skip


@cases(STREAMS)
def test_streams_do_not_depend_on_unrelated_options(case: ExecCase, name: str) -> None:
    request, wanted = STREAMS[name][1]
    seen = run_with_each_option(case, lambda _: request)
    if wanted is None:
        seen.pop(MAY_FAIL, None)
        got = {each: error_of(run).get("kind") for each, (_, run) in seen.items()}
        expect("kind of the error", got, dict.fromkeys(seen, "execution"))
        return
    answers = {
        each: (str(outcome(run)), stream(run, "stdout"), stream(run, "stderr"))
        for each, (_, run) in seen.items()
    }
    wrong = {each: answer for each, answer in answers.items() if answer != wanted}
    expect("exit and streams that differ from the expected ones", wrong, {}, {"wanted": wanted})


ORPHANS: dict[str, tuple[str, list[str]]] = {
    "with our pipes": ("EXEC-ORPHAN-01", ["--keep", "in,out,err"]),
    "that ignores signals": ("EXEC-ORPHAN-02", ["--ignore", "TERM", "--ignore", "HUP"]),
    "that holds nothing": ("EXEC-ORPHAN-03", ["--keep", "none", "--double"]),
    "that is stopped": ("EXEC-ORPHAN-05", ["--stopped", "--ignore", "HUP"]),
}


@cases(ORPHANS)
def test_orphans_are_killed_with_unrelated_options(case: ExecCase, name: str) -> None:
    def request(option: str) -> ExecRequest:
        args = [case.events(option).path, "--exit", "3", *ORPHANS[name][1]]
        return {"program": P.orphan, "args": args, "stdin": "null"}

    seen = run_with_each_option(case, request)
    ends = {each: str(outcome(run)) for each, (_, run) in seen.items()}
    expect("how the child ended", ends, dict.fromkeys(seen, "exit 3"))
    for each, (observed, _) in seen.items():
        expect_none_left(observed, case.events(each), orphan=1)
