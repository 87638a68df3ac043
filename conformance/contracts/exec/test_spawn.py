"""EXEC-SPAWN: if a program cannot be started, the run is an error, and the start is tried only
once."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from boxspec.api import (
    HostLacks,
    NotApplicable,
    NotMeasured,
    at_most,
    contains,
    expect,
    requires,
    satisfies,
)
from boxspec.api import programs as P
from boxspec.subject.observe.inotify import OPEN, Inotify
from contracts.exec.client import ExecCase
from contracts.exec.silence import answers
from contracts.exec.spawn_io import (
    SPAWN_FAILURE,
    error_of,
    left_by_child,
    message,
    names_reason,
    of_another_user,
    outcome,
)
from contracts.shared.files import program_at, script_at, settled
from contracts.shared.lookup import saying
from contracts.shared.requests import Command, ExecRequest

READ, CLOSED = 0x1, 0x10


def loop(tmp: Path) -> str:
    (tmp / "loop").symlink_to("loop")
    return str(tmp / "loop")


def below_a_file(tmp: Path) -> str:
    (tmp / "file").touch()
    return str(tmp / "file" / "x")


ABSENT: dict[str, Callable[[Path], str]] = {
    "bare": lambda tmp: "no-such-boxspec-program",
    "absolute": lambda tmp: str(tmp / "absent"),
    "in a missing directory": lambda tmp: str(tmp / "no" / "absent"),
    "below a file": below_a_file,
    "a loop of links": loop,
    "a dangling link": lambda tmp: str(((tmp / "d").symlink_to("gone"), tmp / "d")[1]),
    "a name that is too long": lambda tmp: str(tmp / ("n" * 300)),
}


@requires("EXEC-SPAWN-01", pitfalls=["A1", "J9"])
@pytest.mark.parametrize("where", ABSENT)
def test_a_missing_program_is_an_error_and_no_result(case: ExecCase, where: str) -> None:
    seen = case.exec.run(program=ABSENT[where](case.tmp))
    counterpart = case.exec.run(program=str(program_at(case.tmp / "present")), args=["7"])
    expect(
        "the run of a missing program, and of one that exists",
        (outcome(seen), outcome(counterpart)),
        (SPAWN_FAILURE, "exit 7"),
    )


@requires("EXEC-SPAWN-02", pitfalls=["A5"])
def test_an_empty_name_is_a_spawn_failure(case: ExecCase) -> None:
    expect("the run with an empty program name", outcome(case.exec.run(program="")), SPAWN_FAILURE)


@requires("EXEC-SPAWN-02", pitfalls=["A3"])
@pytest.mark.parametrize("slash", ["", "/", "/."])
def test_a_directory_is_a_spawn_failure(case: ExecCase, slash: str) -> None:
    folder, counterpart = case.tmp / "folder", program_at(case.tmp / "file")
    folder.mkdir(mode=0o755)
    expect(
        "the run of a directory, and of a file next to it",
        (
            outcome(case.exec.run(program=f"{folder}{slash}")),
            outcome(case.exec.run(program=str(counterpart), args=["0"])),
        ),
        (SPAWN_FAILURE, "exit 0"),
    )


@requires("EXEC-SPAWN-02", pitfalls=["A4"])
@pytest.mark.parametrize("kind", ["script", "binary"])
def test_a_file_without_execute_permission_is_a_spawn_failure(case: ExecCase, kind: str) -> None:
    tool = case.tmp / "tool"
    if kind == "script":
        saying(tool, "ran")
    else:
        program_at(tool)
    tool.chmod(0o644)
    refused = outcome(case.exec.run(program=str(tool), args=["0"]))
    tool.chmod(0o755)
    expect(
        "the run of the same file with mode 0644 and with mode 0755",
        (refused, outcome(case.exec.run(program=str(tool), args=["0"]))),
        (SPAWN_FAILURE, "exit 0"),
    )


@requires("EXEC-SPAWN-02", pitfalls=["A7"])
def test_a_script_whose_interpreter_is_missing_is_a_spawn_failure(case: ExecCase) -> None:
    # The interpreter has a relative path, because the path of the folder may have blanks or be too
    # long for a first line. Its name is sh, because BusyBox selects its applet by that.
    tool = script_at(case.tmp / "tool", "exit 0", first="#!./sh\n")
    request: ExecRequest = {"program": str(tool), "current_dir": str(case.tmp)}
    refused = outcome(case.exec.run(**request))
    (case.tmp / "sh").symlink_to("/bin/sh")
    expect(
        "the run of the script without and with its interpreter",
        (refused, outcome(case.exec.run(**request))),
        (SPAWN_FAILURE, "exit 0"),
    )


@requires("EXEC-SPAWN-03", pitfalls=["A6"])
@pytest.mark.parametrize(
    "first", ["", "\n", "# a comment\n", " #!/bin/sh\n"], ids=["none", "empty", "comment", "late"]
)
def test_a_text_file_without_an_interpreter_line_is_not_given_to_a_shell(
    case: ExecCase, first: str
) -> None:
    trace = case.tmp / "trace"
    line = f'echo ran >>"{trace}"'
    plain = script_at(case.tmp / "plain", line, first=first)
    counterpart = script_at(case.tmp / "counterpart", line)
    refused = outcome(case.exec.run(program=str(plain)))
    ran = trace.exists()
    expect(
        "the run of the file without `#!`, whether it was executed, and the run with `#!/bin/sh`",
        (refused, ran, outcome(case.exec.run(program=str(counterpart))), trace.exists()),
        (SPAWN_FAILURE, False, "exit 0", True),
    )


@requires("EXEC-SPAWN-04", pitfalls=["A8"])
def test_a_program_that_is_open_for_writing_is_a_spawn_failure(case: ExecCase) -> None:
    tool = program_at(case.tmp / "tool")
    with tool.open("r+b"):
        busy = outcome(case.exec.run(program=str(tool), args=["0"], within_s=10))
    settled(tool)
    expect(
        "the run of the file while it is open for writing, and afterwards",
        (busy, outcome(case.exec.run(program=str(tool), args=["0"]))),
        (SPAWN_FAILURE, "exit 0"),
    )


def attempts(watch: Inotify) -> int:
    """Count the events in which the file was opened but not read. Each refused execve causes one
    such event."""
    masks = [mask for _, mask, _ in watch.read()]
    opened = sum(1 for mask in masks if mask & OPEN)
    return opened - min(opened, sum(1 for mask in masks if mask & READ))


@requires("EXEC-SPAWN-04", pitfalls=["A8"])
def test_a_busy_program_is_attempted_once(case: ExecCase) -> None:
    tool = program_at(case.tmp / "tool")
    watch = Inotify()
    try:
        with tool.open("r+b"):
            # The watch also reports that the file was closed: without this, inotify would merge two
            # equal events that follow each other.
            watch.watch(str(tool), OPEN | READ | CLOSED)
            with pytest.raises(OSError, match="busy"):
                subprocess.run([tool], check=False)
            one = attempts(watch)
            if not one:
                raise HostLacks(
                    "inotify", "inotify of this kernel does not report a refused execve"
                )
            case.exec.run(program=str(tool), within_s=10)
            expect(
                "number of attempts to start the program, counted like one execve",
                attempts(watch),
                at_most(one),
            )
    finally:
        watch.close()


NOWHERE: dict[str, Callable[[Path], Path | str]] = {
    "missing": lambda place: place,
    "a file": lambda place: (place.write_text("x"), place)[1],
    "below a file": lambda place: (place.write_text("x"), place / "sub")[1],
    "a loop of links": lambda place: (place.symlink_to(place.name), place)[1],
    # chdir(2) fails with ENOENT for an empty name, but an implementation may treat it as a missing
    # current_dir.
    "an empty name": lambda _: "",
}


@requires("EXEC-SPAWN-08", pitfalls=["A10", "A11"])
@pytest.mark.parametrize("what", NOWHERE)
def test_a_bad_working_directory_is_a_spawn_failure(case: ExecCase, what: str) -> None:
    starts, good = case.tmp / "starts", case.tmp / "good"
    good.mkdir()
    request: Command = {"program": P.count_start, "args": [str(starts)]}
    refused = case.exec.run(**request, current_dir=str(NOWHERE[what](case.tmp / "bad")))
    before = starts.exists()
    counterpart = case.exec.run(**request, current_dir=str(good))
    expect(
        "the run in the bad directory, whether its program ran, and the run in a good directory",
        (outcome(refused), before, outcome(counterpart), len(left_by_child(starts))),
        (SPAWN_FAILURE, False, "exit 0", 1),
    )


@requires("EXEC-SPAWN-08", pitfalls=["A11"])
def test_a_directory_that_cannot_be_entered_is_a_spawn_failure(case: ExecCase) -> None:
    closed, opened = case.tmp / "closed", case.tmp / "opened"
    closed.mkdir(), opened.mkdir()
    closed.chmod(0), opened.chmod(0o755), case.tmp.chmod(0o777)
    # Run as another user, because root can enter every directory.
    state = ["--uid", "54331"] if os.geteuid() == 0 else []
    counterpart = of_another_user(
        case.exec.run(
            program="/bin/true", current_dir=str(opened), state=state, expect_result=False
        )
    )
    refused = case.exec.run(program="/bin/true", current_dir=str(closed), state=state)
    closed.chmod(0o700)
    expect(
        "the run in the forbidden directory, and in one that may be entered",
        (outcome(refused), outcome(counterpart)),
        (SPAWN_FAILURE, "exit 0"),
    )


REASONS: dict[str, tuple[Callable[[Path], Path], int]] = {
    "missing": (lambda tool: tool, errno.ENOENT),
    "a directory": (lambda tool: (tool.mkdir(), tool)[1], errno.EACCES),
    "not executable": (lambda tool: saying(tool, "x", mode=0o644), errno.EACCES),
    "no interpreter line": (lambda tool: script_at(tool, "exit 0", first=""), errno.ENOEXEC),
    "below a file": (lambda tool: (tool.touch(), tool / "x")[1], errno.ENOTDIR),
    "a loop": (lambda tool: (tool.symlink_to(tool.name), tool)[1], errno.ELOOP),
}


@requires("EXEC-SPAWN-09")
@pytest.mark.parametrize("what", REASONS)
def test_the_message_names_the_program_and_the_systems_reason(case: ExecCase, what: str) -> None:
    make, number = REASONS[what]
    program = make(case.tmp / "tool")
    text = message(case.exec.run(program=str(program)))
    expect(
        "the message",
        text,
        satisfies(
            lambda got: f"failed to spawn `{program}`: " in got and names_reason(number, got),
            f"failed to spawn `{program}`: {os.strerror(number)}",
        ),
    )


@requires("EXEC-SPAWN-09")
def test_the_message_names_a_bad_working_directory_as_such(case: ExecCase) -> None:
    bad = case.tmp / "bad"
    text = message(case.exec.run(program="/bin/true", current_dir=str(bad)))
    expect(
        "the message",
        text,
        satisfies(
            lambda got: (
                f"failed to spawn `/bin/true`: working directory `{bad}`" in got
                and names_reason(errno.ENOENT, got)
            ),
            f"failed to spawn `/bin/true`: working directory `{bad}`: No such file or directory",
        ),
    )


@requires("EXEC-SPAWN-09")
@pytest.mark.parametrize("mode", [0o000, 0o600, 0o700], ids=["none", "no-search", "owner-only"])
def test_the_message_names_a_directory_that_cannot_be_entered(case: ExecCase, mode: int) -> None:
    closed = case.tmp / "closed"
    closed.mkdir()
    closed.chmod(mode)
    if mode & 0o700 == 0o700 and os.geteuid() != 0:
        raise HostLacks("root", "only root can make a directory of another user")
    case.tmp.chmod(0o755)
    state = ["--uid", "54331"] if os.geteuid() == 0 else []
    seen = case.exec.run(
        program="/bin/true", current_dir=str(closed), state=state, expect_result=False
    )
    closed.chmod(0o700)
    wanted = f"failed to spawn `/bin/true`: working directory `{closed}`"
    expect("the message", message(of_another_user(seen)), contains(wanted), error_of(seen))


@requires("EXEC-SPAWN-09")
def test_the_message_of_an_empty_name_quotes_it(case: ExecCase) -> None:
    seen = case.exec.run(program="")
    expect("the message", message(seen), contains("failed to spawn ``: "), error_of(seen))


# Requests that do not depend on the working directory of the caller.
ELSEWHERE: dict[str, ExecRequest] = {
    "inherited directory": {"program": P.exit_with, "args": ["7"]},
    "directory of its own": {"program": P.exit_with, "args": ["7"], "current_dir": "/"},
    "name in PATH": {
        "program": "sh",
        "args": ["-c", "exit 7"],
        "current_dir": "/",
        "env": [("PATH", "/usr/bin:/bin")],
    },
    "payload": {"program": P.read_some, "args": ["3", "--exit", "7"], "stdin": b"abc"},
}


@requires("EXEC-SPAWN-18", pitfalls=["A13"])
@pytest.mark.parametrize("how", ELSEWHERE)
def test_a_run_works_where_the_callers_directory_was_removed(case: ExecCase, how: str) -> None:
    gone = case.tmp / "gone"
    gone.mkdir()
    state = ["--cwd", str(gone), "--remove-cwd"]
    if case.exec.inside.name is not None:
        raise NotApplicable("no sandbox starts in a removed directory")
    seen = case.exec.run(**ELSEWHERE[how], state=state, expect_result=False)
    if seen.raw is None and not answers(case, ["--cwd", str(removable(case)), "--remove-cwd"]):
        raise NotMeasured("the shim itself does not start in a removed directory")
    expect("how the child ended", outcome(seen), "exit 7")


def removable(case: ExecCase) -> Path:
    place = case.tmp / "gone too"
    place.mkdir(exist_ok=True)
    return place
