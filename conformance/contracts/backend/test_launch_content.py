"""The content of the streams of a program inside, and its end by any signal."""

from __future__ import annotations

import signal

import pytest

from boxspec.api import NotMeasured, expect, programs, requires
from contracts.backend.client import BackendCase
from contracts.backend.ground import made_ground
from contracts.shared.files import program_at
from contracts.shared.requests import ExecRequest

# Outputs that a terminal, a shell or a reader of lines would change.
OUTPUTS = {
    "nothing": b"",
    "a last line without a line feed": b"a\nlast",
    "line feeds": b"\n\n\n",
    "blanks": b" a \t\n ",
    "carriage returns": b"a\r\nb\rc\r\n",
    "NULs": b"\0a\0\0b\n\0",
    "control characters": bytes(range(1, 32)) + b"\x7f",
    "escape sequences": b"\x1b[31mred\x1b[0m\x1b]0;title\x07\n",
    "byte order marks": b"\xef\xbb\xbfa\xef\xbb\xbf\n",
    "other characters": "é e\u0301 漢 😀 \x85 \u2028 \ufffd\n".encode(),
}


@requires("BACKEND-LAUNCH-16", needs=["BACKEND-LIFE-02"])
def test_outputs_of_any_content_arrive_unchanged(case: BackendCase) -> None:
    with made_ground() as ground:
        calls: list[ExecRequest] = []
        for number, content in enumerate(OUTPUTS.values()):
            (ground.ws / str(number)).write_bytes(content)
            line = f"cat {number}; cat {number} >&2"
            calls.append({"program": "/bin/sh", "args": ["-c", line]})
        session = case.backend.run(
            calls, root=ground.ws, profile="repo-write", on_unavailable="degrade"
        )
        session.need_enforcement()
        found = [(call.stdout, call.stderr) if call.ok else call.error for call in session.calls]
        wanted = [(content, content) for content in OUTPUTS.values()]
        changed = [
            what for what, got, given in zip(OUTPUTS, found, wanted, strict=True) if got != given
        ]
        expect("outputs that changed", changed, [], {"stdout and stderr": found})


# The signals whose default action ends a process, except those that test_launch_results.py has.
ENDS = [
    *("HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "USR1", "USR2", "PIPE", "ALRM"),
    *("XCPU", "XFSZ", "VTALRM", "PROF", "IO", "SYS", "RTMAX"),
]
# The exit code of die-by if it survives the signal.
NOT_ENDED = 66


@requires("BACKEND-LAUNCH-06", needs=["BACKEND-LIFE-02"])
def test_an_end_by_any_other_signal_is_reported(case: BackendCase) -> None:
    with made_ground() as ground:
        program = program_at(ground.ws / "die-by", programs.die_by)
        session = case.backend.run(
            [{"program": str(program), "args": [name]} for name in ENDS],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        )
        found = [
            (call.result["success"], call.result["exit_code"]) if call.ok else call.error
            for call in session.calls
        ]
        if (False, NOT_ENDED) in found:
            raise NotMeasured(
                "inside, the program is process 1, which cannot end itself by a signal"
            )
        wrong = [
            (name, got)
            for name, got in zip(ENDS, found, strict=True)
            if got not in [(False, None), (False, 128 + signal.Signals[f"SIG{name}"])]
        ]
        expect("signals that are reported otherwise: success and exit code", wrong, [])


# The stdin of each call of a session.
INPUTS = [b"first\n", b"", b"no line feed", b"\n\n", b"\x04a\x1a\r\n\0", b"x" * 1_000, b"last\n"]


@requires("BACKEND-LAUNCH-08", needs=["BACKEND-LIFE-02", "BACKEND-LAUNCH-16"])
@pytest.mark.parametrize("reads", [True, False])
def test_each_call_gets_its_own_bytes(case: BackendCase, reads: bool) -> None:
    """Read the whole input, or leave some of it unread."""
    program = "/bin/cat" if reads else "/bin/sh"
    args = [] if reads else ["-c", "head -c 1; exit 0"]
    with made_ground() as ground:
        session = case.backend.run(
            [{"program": program, "args": args, "stdin": given} for given in INPUTS],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        )
        session.need_enforcement()
        found = [call.stdout if call.ok else call.error for call in session.calls]
        wanted = [given if reads else given[:1] for given in INPUTS]
        same = [got == given for got, given in zip(found, wanted, strict=True)]
        expect("calls that read their own input", same, [True] * len(INPUTS))
