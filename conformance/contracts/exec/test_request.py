"""EXEC-REQUEST: the fields of a request and their meaning."""

from __future__ import annotations

import os
from base64 import b64decode
from collections.abc import Callable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Unpack

import pytest

from boxspec.api import contains, expect, requires
from boxspec.api import programs as P
from contracts.exec.client import ExecCase, RunOptions
from contracts.exec.moments import extra_descendants
from contracts.exec.spawn_io import error_of, left_by_child, outcome, report, reported
from contracts.shared.files import program_at, script_at
from contracts.shared.requests import Command, ExecRequest

# Every byte that an argument may contain.
ALL_BYTES = bytes(range(1, 256))


def cwd_of(pid: int) -> Path:
    return Path(f"/proc/{pid}/cwd").readlink()


# The shell must stay alive. Without the final `:`, busybox would replace itself by the last
# command.
KEEP_ARGV = 'cat /proc/$$/cmdline >"$0"; :'

# Characters with a special meaning in a command line, a shell, a format string or a terminal.
SPECIAL = "\\\"'`$!%^&*?~#;|<>()[]{}=,:@+-/ \t\n\r\ax0n"

ARGUMENTS: dict[str, list[str]] = {
    "every character of ASCII": [ALL_BYTES[:127].decode()],
    "an empty argument between others": ["a", "", "b"],
    "what a shell would expand": ["$HOME", "`id`", "$(id)", "*", "~", "a;id", "a|b", "a&", ">x"],
    "quotes, blanks and newlines": ["a b", "'", '"', "\\", "\t", "\n", " lead", "trail "],
    "each two of them next to each other": [a + b for a in SPECIAL for b in SPECIAL],
    "runs of backslashes before quotes": [
        "\\" * count + quote + end for count in range(6) for quote in "\"'" for end in ("", "x")
    ],
    "what looks like options": ["-c", "--", "-", "--help", "-x=1"],
    "what names a file of arguments": ["@/etc/passwd", "@/dev/null", "<@/etc/passwd"],
    "characters beyond ASCII": ["é", "€", "😀", "e\u0301", "\ufeff", "\ufffd"],
    "five thousand arguments": [str(i) for i in range(5000)],
}

# Names that a careless implementation trims.
BLANK_ENDS = {"blanks-at-the-ends": b" ends ", "newline-at-the-end": b"ends\n"}


@requires("EXEC-REQUEST-01")
def test_a_request_with_only_a_program_runs_it_without_arguments(case: ExecCase) -> None:
    here = case.tmp / "here"
    here.mkdir()
    tool = script_at(case.tmp / "tool", 'echo "$#" "$(pwd -P)"')
    seen = case.exec.run(program=str(tool), state=["--cwd", str(here)])
    expect(
        "arguments and working directory of the child",
        (outcome(seen), seen.stdout.decode()),
        ("exit 0", f"0 {here.resolve()}\n"),
    )


NOT_UTF8: dict[str, list[str | bytes]] = {
    "every byte value": [ALL_BYTES],
    "overlong and lone surrogate bytes": [b"\xc0\x80", b"\xed\xa0\x80", b"\xff"],
}


@requires("EXEC-REQUEST-02")
@pytest.mark.parametrize("vector", ARGUMENTS)
def test_arguments_reach_the_child_byte_for_byte(case: ExecCase, vector: str) -> None:
    arguments_arrive(case, ARGUMENTS[vector])


@requires("EXEC-REQUEST-07")
@pytest.mark.parametrize("vector", NOT_UTF8)
def test_arguments_that_are_not_utf8_reach_the_child(case: ExecCase, vector: str) -> None:
    arguments_arrive(case, NOT_UTF8[vector])


def arguments_arrive(case: ExecCase, arguments: Sequence[str | bytes]) -> None:
    kept = case.tmp / "argv"
    words = ["-c", KEEP_ARGV, str(kept), *arguments]
    case.exec.run(program="/bin/sh", args=words).result  # noqa: B018 - an error fails
    wanted = [b"/bin/sh", *(os.fsencode(word) if isinstance(word, str) else word for word in words)]
    got = left_by_child(kept).split(b"\0")[:-1]
    differing = [pair for pair in zip_longest(wanted, got) if pair[0] != pair[1]]
    expect("arguments of the request, and arguments that reached the child", differing[:4], [])


@requires("EXEC-REQUEST-02")
def test_argv_0_is_the_given_name_after_a_search(case: ExecCase) -> None:
    seen = case.exec.run(program="cat", args=["/proc/self/cmdline"])
    expect("the child's argv", seen.stdout.split(b"\0")[:-1], [b"cat", b"/proc/self/cmdline"])


@requires("EXEC-REQUEST-02")
@pytest.mark.parametrize(
    "name",
    [
        *(b"plain", b"with blank", b"semi;colon", b"$HOME", b"-dash", b"caf\xc3\xa9"),
        *BLANK_ENDS.values(),
    ],
    ids=["plain", "blank", "semicolon", "dollar", "dash", "utf8", *BLANK_ENDS],
)
def test_the_program_is_found_and_named_byte_for_byte(case: ExecCase, name: bytes) -> None:
    program_is_found(case, name)


@requires("EXEC-REQUEST-07")
def test_a_program_whose_name_is_not_utf8_is_found_and_named(case: ExecCase) -> None:
    program_is_found(case, b"latin\xe9\xff")


def program_is_found(case: ExecCase, name: bytes) -> None:
    tool = case.tmp / os.fsdecode(name)
    # The test uses no shell, because busybox acts as another program under another name.
    tool.symlink_to(P.report)
    kept = case.tmp / "report.json"
    case.exec.run(program=os.fsencode(tool), args=[str(kept)]).result  # noqa: B018
    expect("the child's argv[0]", b64decode(reported(kept)["argv_b64"][0]), os.fsencode(tool))


@requires("EXEC-REQUEST-02")
@pytest.mark.parametrize("name", ["./tool", "sub/../tool", ".//tool"])
def test_argv_0_is_the_given_name_with_a_slash(case: ExecCase, name: str) -> None:
    # The name is resolved from current_dir, but current_dir is not part of argv[0].
    (case.tmp / "sub").mkdir()
    (case.tmp / "tool").symlink_to(P.report)
    kept = case.tmp / "report.json"
    case.exec.run(program=name, args=[str(kept)], current_dir=str(case.tmp)).result  # noqa: B018
    expect("the child's argv[0]", b64decode(reported(kept)["argv_b64"][0]), name.encode())


@requires("EXEC-REQUEST-02")
def test_a_line_of_shell_as_the_program_is_a_file_name(case: ExecCase) -> None:
    line = f"{P.count_start} {case.tmp}/started"
    counterpart = program_at(case.tmp / "a b;c")
    seen = case.exec.run(program=line)
    allowed = case.exec.run(program=str(counterpart), args=["3"])
    started = (case.tmp / "started").exists()
    expect(
        "the run of a name that a shell would split, and of a program with blanks in its name",
        (seen.ok, started, outcome(allowed)),
        (False, False, "exit 3"),
        {"error": error_of(seen)},
    )


@requires("EXEC-REQUEST-03", pitfalls=["A29"], capability="exec.sandbox")
def test_a_refusing_sandbox_ends_the_run_before_anything_starts(case: ExecCase) -> None:
    starts = case.tmp / "starts"
    request: Command = {"program": P.count_start, "args": [str(starts)]}
    refused = case.exec.run(**request, sandbox={"refuse": "not on this machine"})
    before = starts.exists()
    allowed = case.exec.run(**request)
    expect(
        "kind of the refusal, whether the program started, and the run without `sandbox`",
        (error_of(refused).get("kind"), before, outcome(allowed), len(left_by_child(starts))),
        ("policy_denied", False, "exit 0", 1),
        {"error": error_of(refused)},
    )


# Requests that fail without a sandbox too, by the name of the wrong field.
UNFIT: dict[str, Callable[[Path], ExecRequest]] = {
    "program": lambda tmp: {"program": str(tmp / "absent")},
    "directory": lambda tmp: {"program": "/bin/true", "current_dir": str(tmp / "absent")},
    "variable": lambda _: {"program": "/bin/true", "env": [("A=B", "x")]},
}


@requires("EXEC-REQUEST-03", pitfalls=["A29"], capability="exec.sandbox")
@pytest.mark.parametrize("what", UNFIT)
def test_a_refusal_comes_before_any_spawn_failure(case: ExecCase, what: str) -> None:
    seen = case.exec.run(**UNFIT[what](case.tmp), sandbox={"refuse": "not here"})
    expect(
        f"kind of the error for a bad {what} under a refusing sandbox",
        error_of(seen).get("kind"),
        "policy_denied",
        {"error": error_of(seen)},
    )


@requires("EXEC-REQUEST-03", pitfalls=["A29"], capability="exec.sandbox")
def test_after_a_refusal_the_caller_has_no_child_and_no_new_descriptor(case: ExecCase) -> None:
    def processes_and_descriptors(
        servers: int = 0, **more: Unpack[RunOptions]
    ) -> tuple[list[str], int]:
        with case.exec.start(**(more | {"program": "/bin/true", "hold": True})) as shim:
            shim.wait_response()
            return extra_descendants(shim, servers), shim.at_rest().fd_count

    # A plain run may keep resources for the next run. A refused run may keep only the same.
    servers, usual = processes_and_descriptors()
    processes, descriptors = processes_and_descriptors(len(servers), sandbox={"refuse": "no"})
    expect(
        "processes after a refusal, and whether there are more descriptors than after a run",
        (processes, descriptors > usual),
        ([], False),
        {"descriptors": descriptors, "after a run": usual, "processes after a run": servers},
    )


@requires("EXEC-REQUEST-03", capability="exec.sandbox")
def test_a_refusal_without_a_reason_prevents_the_run(case: ExecCase) -> None:
    starts = case.tmp / "starts"
    request: Command = {"program": P.count_start, "args": [str(starts)]}
    refused = case.exec.run(**request, sandbox={"refuse": ""})
    before = starts.exists()
    case.exec.run(**request)
    got = (error_of(refused).get("kind"), before, len(left_by_child(starts)))
    expect(
        "kind of the error, and how often the program started with and without a refusing sandbox",
        got,
        ("policy_denied", False, 1),
    )


@requires("EXEC-REQUEST-03", capability="exec.sandbox")
def test_the_refusal_carries_the_reason(case: ExecCase) -> None:
    seen = case.exec.run(program="/bin/true", sandbox={"refuse": "reason 4711"})
    expect("the error's message", error_of(seen).get("message"), contains("reason 4711"))


@requires("EXEC-REQUEST-04")
def test_grace_is_5000_ms_and_tick_100_ms(case: ExecCase) -> None:
    constants = case.hello.get("constants", {})
    got = (constants.get("grace_ms"), constants.get("tick_ms"))
    expect("grace_ms and tick_ms in hello", got, (5000, 100))


@requires("EXEC-REQUEST-05")
@pytest.mark.parametrize(
    "name", [b"plain", b"two words", *BLANK_ENDS.values()], ids=["plain", "blank", *BLANK_ENDS]
)
def test_current_dir_is_the_childs_working_directory(case: ExecCase, name: bytes) -> None:
    child_works_in(case, name)


@requires("EXEC-REQUEST-07")
def test_a_directory_whose_name_is_not_utf8_is_the_childs_working_directory(case: ExecCase) -> None:
    child_works_in(case, b"not\xffutf8")


def child_works_in(case: ExecCase, name: bytes) -> None:
    place = case.tmp / os.fsdecode(name)
    place.mkdir()
    # The child prints a file that it finds in the directory. It does not print the name of the
    # directory, which may not be UTF-8.
    (place / "witness").touch()
    seen = case.exec.run(program="/bin/ls", current_dir=os.fsencode(place))
    expect("what the child sees in its directory", seen.stdout, b"witness\n")


@requires("EXEC-REQUEST-05")
def test_current_dir_holds_before_the_first_instruction(case: ExecCase) -> None:
    place = case.tmp / "place"
    place.mkdir()
    found = report(case, current_dir=str(place))
    expect("the child's working directory", found["cwd"], str(place.resolve()))


@requires("EXEC-REQUEST-06", pitfalls=["A13"])
def test_the_callers_working_directory_never_moves(case: ExecCase) -> None:
    place, events, fifo = case.tmp / "place", case.events(), case.fifo("gate")
    place.mkdir()
    with case.exec.start(
        program=P.gate, args=[events.path, str(fifo)], current_dir=str(place), hold=True
    ) as shim:
        ready = events.wait("ready")
        child = cwd_of(ready.pid)
        during = cwd_of(shim.shim_pid)
        case.open_gate(fifo)
        shim.wait_response()
        after = cwd_of(shim.shim_pid)
        shim.finish()
    expect(
        "working directories of the caller during and after, and of the child",
        (during, after, child),
        (Path.cwd(), Path.cwd(), place.resolve()),
    )
