"""The arguments and the stdin of a program inside, and the report of its end."""

import signal

import pytest

from boxspec.api import (
    NotMeasured,
    expect,
    one_of,
    programs,
    requires,
    startswith,
    written,
)
from contracts.backend.client import BackendCase
from contracts.backend.ground import Ground, made_ground
from contracts.shared.files import program_at, script_at
from contracts.shared.requests import ExecRequest

MISSING = "/no/such/program"


# The exit code of die-by if it survives the signal.
NOT_ENDED = 66


# Arguments with a special meaning for a shell or for the options of a wrapper.
WORDS = ("", "a  b", "$HOME", "`id`", "it's", '"', "*", "a\nb", "\\", ";", "--", "é")


@requires("BACKEND-LAUNCH-04", needs=["BACKEND-LIFE-02"])
def test_an_exit_code_arrives_unchanged(case: BackendCase) -> None:
    # For shells and wrappers, some of these codes mean that a program was not found or was ended by
    # a signal.
    codes = [0, 1, 42, 125, 126, 127, 128, 130, 137, 143, 255]
    with made_ground() as ground:
        session = case.backend.run(
            [{"program": "/bin/sh", "args": ["-c", f"exit {code}"]} for code in codes],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        )
        found = [call.result["exit_code"] for call in session.calls]
        expect("exit codes of the calls", found, codes)


@requires("BACKEND-LAUNCH-04")
def test_a_missing_program_is_a_failure_to_spawn(case: BackendCase) -> None:
    with made_ground() as ground:
        session = case.backend.run(
            [{"program": MISSING}], root=ground.ws, profile="repo-write", on_unavailable="degrade"
        )
        error = session.only.error
        expect("the kind of the error", error["kind"], "execution")
        expect("the message of the error", error["message"], startswith("failed to spawn"))


# The first line of a script, and its mode.
NOT_EXECUTABLE = {
    "a directory": ("", 0o755),
    "no right to execute it": ("#!/bin/sh\n", 0o644),
    "no interpreter": (f"#!{MISSING}\n", 0o755),
    "no interpreter line": ("", 0o755),
}


@requires("BACKEND-LAUNCH-04")
@pytest.mark.parametrize("what", NOT_EXECUTABLE)
def test_a_file_that_cannot_be_executed_is_a_failure_to_spawn(case: BackendCase, what: str) -> None:
    with made_ground() as ground:
        program = ground.ws / "program"
        if what == "a directory":
            program.mkdir()
        else:
            script_at(program, "exit 0", *NOT_EXECUTABLE[what])
        session = case.backend.run(
            [{"program": str(program)}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        )
        error = session.only.error
        expect("the kind of the error", error["kind"], "execution")
        expect("the message of the error", error["message"], startswith("failed to spawn"))


@requires("BACKEND-LAUNCH-06")
@pytest.mark.parametrize("name", ["KILL", "TERM", "SEGV"])
def test_an_end_by_a_signal_is_reported(case: BackendCase, name: str) -> None:
    with made_ground() as ground:
        program = program_at(ground.ws / "die-by", programs.die_by)
        session = case.backend.run(
            [{"program": str(program), "args": [name]}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        )
        result = session.only.result
        if result["exit_code"] == NOT_ENDED:
            raise NotMeasured(
                "inside, the program is process 1, which cannot end itself by a signal"
            )
        number = signal.Signals[f"SIG{name}"]
        expect("success", result["success"], False)
        expect("the exit code", result["exit_code"], one_of(None, 128 + number))


def outputs(case: BackendCase, ground: Ground, calls: list[ExecRequest]) -> list[str]:
    """Return what each call wrote to stdout, or that it had no result."""
    session = case.backend.run(
        calls, root=ground.ws, profile="repo-write", on_unavailable="degrade"
    )
    return [
        call.stdout.decode(errors="replace") if call.ok else "no result" for call in session.calls
    ]


@requires("BACKEND-LAUNCH-07", needs=["BACKEND-LIFE-02"])
def test_arguments_arrive_unchanged(case: BackendCase) -> None:
    with made_ground() as ground:
        # Each word has its own call, so that a failure names the word.
        found = outputs(
            case,
            ground,
            [{"program": "/usr/bin/printf", "args": ["<%s>", word, "x"]} for word in WORDS],
        )
        expect("the arguments", found, [f"<{word}><x>" for word in WORDS])


# Some wrappers do not accept this many words: bubblewrap accepts 9,000. The kernel accepts them.
MANY = 20_000


@requires("BACKEND-LAUNCH-07")
def test_many_arguments_arrive_unchanged(case: BackendCase) -> None:
    with made_ground() as ground:
        numbers = [str(number) for number in range(MANY)]
        line = f'printf "%s " $#; shift {MANY - 1}; printf %s "$1"'
        session = case.backend.run(
            [{"program": "/bin/sh", "args": ["-c", line, "sh", *numbers]}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        )
        call = session.only
        got = call.stdout.decode() if call.ok else call.error["message"]
        expect("the number of arguments, and the last argument", got, f"{MANY} {MANY - 1}")


# The kernel accepts words of up to 131,071 bytes.
LENGTHS = (1_023, 4_096, 32_768, 65_535, 65_537, 100_000)


@requires("BACKEND-LAUNCH-07", needs=["BACKEND-LIFE-02"])
def test_arguments_of_any_length_arrive_unchanged(case: BackendCase) -> None:
    with made_ground() as ground:
        line = 'printf %s "$1" | wc -c; printf %s "$1" | tail -c 1'
        words = ["x" * (length - 1) + "y" for length in LENGTHS]
        found = outputs(
            case,
            ground,
            [{"program": "/bin/sh", "args": ["-c", line, "sh", word]} for word in words],
        )
        wanted = [f"{length}\ny" for length in LENGTHS]
        expect("the length and the last letter of each argument", found, wanted)


@requires("BACKEND-LAUNCH-07", capability="exec.bytes")
def test_arguments_that_are_not_utf_8_arrive_unchanged(case: BackendCase) -> None:
    word = b"\xff\xc3(\x80"
    with made_ground() as ground:
        session = case.backend.run(
            [{"program": "/bin/sh", "args": ["-c", 'printf %s "$1" >got', "sh", word]}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        )
        expect("exit code of the program", session.only.result["exit_code"], 0)
        expect("the argument that the program got", written(ground.ws / "got"), word)


@requires("BACKEND-LAUNCH-08")
@pytest.mark.parametrize("way", ["bytes", "null", "inherit"])
def test_stdin_arrives_unchanged(case: BackendCase, way: str) -> None:
    with made_ground() as ground:
        given = ground.ws / "given"
        given.write_text("of the caller")
        ways: dict[str, str | bytes] = {"bytes": b"of the request"}
        session = case.backend.run(
            [{"program": "/bin/cat", "stdin": ways.get(way, way)}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
            shim_stdin=given,
        )
        wanted = {"bytes": b"of the request", "null": b"", "inherit": b"of the caller"}
        call = session.only
        got = (call.stdout, call.result["exit_code"])
        expect("what the program reads, and its exit code", got, (wanted[way], 0))
