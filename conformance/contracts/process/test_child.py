"""PROCESS-CHILD: the state with which a process starts."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

import pytest

from boxspec.api import Failure, NotApplicable, expect, requires
from boxspec.api import programs as P
from contracts.process.client import ProcessCase, RequestFields, handle, step
from contracts.process.judging import asked, carried_out, shell
from contracts.shared.callers import in_a_removed_directory
from contracts.shared.signals import expect_the_three_to_act, ignoring

HOW = pytest.mark.parametrize("how", ["script", "bridge"])
# Each of these must arrive as one argument, although a shell would split or expand it.
WORDS = ["", "two words", " ends ", "*", "$HOME", "-c", "--", "'\"", "line\nbreak"]


def reported(
    case: ProcessCase, how: str, state: Sequence[str] = (), **fields: Unpack[RequestFields]
) -> dict[str, Any]:
    """Return the report of a program about its start."""
    place: Path = case.tmp / "report.json"
    carried_out(case, how, P.report, [place], fields, state=state)
    if not place.exists():
        raise Failure("the program runs", "its report", "no such file", {})
    said: dict[str, Any] = json.loads(place.read_text())
    return said


@requires("PROCESS-CHILD-01")
@HOW
def test_arguments_arrive_unchanged(case: ProcessCase, how: str) -> None:
    wanted = "\n".join(WORDS).encode()
    _, printed = carried_out(case, how, P.say, WORDS)
    expect("the arguments that the program prints", printed, wanted)


@requires("PROCESS-CHILD-01")
@HOW
def test_argv_0_is_the_program_as_it_was_given(case: ProcessCase, how: str) -> None:
    _, printed = carried_out(case, how, "cat", ["/proc/self/cmdline"])
    expect("the child's argv", printed.split(b"\0")[:-1], [b"cat", b"/proc/self/cmdline"])


@requires("PROCESS-CHILD-01")
@HOW
@pytest.mark.parametrize("name", ["a place", " ends "])
def test_a_child_runs_in_the_directory_of_its_request(
    case: ProcessCase, how: str, name: str
) -> None:
    place = case.tmp / name
    place.mkdir()
    said = reported(case, how, current_dir=str(place))
    expect("the child's working directory", said["cwd"], str(place.resolve()))


@requires("PROCESS-CHILD-01")
def test_the_directory_of_a_process_is_not_that_of_the_next_one(case: ProcessCase) -> None:
    usual, kept = reported(case, "script")["cwd"], case.tmp / "second.json"
    (case.tmp / "place").mkdir()
    fields = {"current_dir": str(case.tmp / "place")}
    handles = {"first": shell("cat"), "second": handle(P.report, [kept])}
    handles["first"]["request"] |= fields
    steps = [step("open", "first"), step("open", "second"), step("wait", "second")]
    case.process.script(handles, steps)
    found = json.loads(kept.read_text())["cwd"]
    expect("working directory of a process without current_dir", found, usual)


@requires("PROCESS-CHILD-01")
@pytest.mark.parametrize("place", ["missing", "a file"])
def test_a_child_runs_in_no_other_directory(case: ProcessCase, place: str) -> None:
    (case.tmp / "a file").write_text("x")
    mark = case.tmp / "mark"
    wrong = shell(': >"$1"', str(mark))
    wrong["request"]["current_dir"] = str(case.tmp / place)
    seen = case.process.script({"a": wrong}, [step("open"), step("wait")])
    kind = seen.steps[0].get("error", {}).get("kind")
    expect("the error, and whether the program ran", (kind, mark.exists()), ("execution", False))


@requires("PROCESS-CHILD-01")
@HOW
def test_a_child_has_the_environment_of_its_request(case: ProcessCase, how: str) -> None:
    env = {"BOXSPEC_A": "a=b c", "BOXSPEC_BLANKS": " x ", "BOXSPEC_EMPTY": ""}
    said = reported(case, how, env={"clear_and_set": [[*pair] for pair in env.items()]})
    pairs = [b64decode(each).decode().partition("=") for each in said["env_b64"]]
    # A sandbox adds a TMPDIR.
    got = {name: value for name, _, value in pairs if name != "TMPDIR"}
    expect("the child's environment", got, env)


@requires("PROCESS-CHILD-01")
@HOW
def test_an_empty_environment_gives_the_child_no_variables(case: ProcessCase, how: str) -> None:
    said = reported(case, how, env={"clear_and_set": []})
    names = [b64decode(each).decode().partition("=")[0] for each in said["env_b64"]]
    expect("variables of the child", [name for name in names if name != "TMPDIR"], [])


@requires("PROCESS-CHILD-02")
@HOW
def test_a_child_has_only_descriptors_0_1_and_2(case: ProcessCase, how: str) -> None:
    said = reported(case, how)
    expect("descriptors of the child", [each["fd"] for each in said["fds"]], [0, 1, 2])


@requires("PROCESS-CHILD-02")
@HOW
@pytest.mark.parametrize("names", [[], ["INT", "TERM", "PIPE"]], ids=["default", "ignored"])
def test_signals_do_what_they_do_by_default(case: ProcessCase, how: str, names: list[str]) -> None:
    expect_the_three_to_act(reported(case, how, state=ignoring(*names)))


@requires("PROCESS-CHILD-04")
@pytest.mark.parametrize("how", ["script", "bridge"])
def test_a_process_starts_where_the_callers_directory_was_removed(
    case: ProcessCase, how: str
) -> None:
    if case.process.inside.name is not None:
        raise NotApplicable("no sandbox starts in a removed directory")
    state = in_a_removed_directory(case)
    error, out = carried_out(case, how, "/bin/echo", ["here"], state=state)
    expect("the error, and the output", (error, out), (None, b"here\n"))


CLOSED = [("0",), ("1",), ("2",), ("0", "1"), ("0", "1", "2")]


@requires("PROCESS-CHILD-04")
@pytest.mark.parametrize("closed", CLOSED, ids="".join)
def test_a_process_starts_with_standard_descriptors_closed(
    case: ProcessCase, closed: tuple[str, ...]
) -> None:
    state = [word for fd in closed for word in ("--close", fd)]
    steps = [step("open"), *asked(b"x\n"), step("close_stdin")]
    steps += [step("read_eof", stream="stderr"), step("wait")]
    line = "cat; echo end >&2; exit 3"
    seen = case.process.script({"a": shell(line)}, steps, state=state)
    got = (seen.data(2), seen.data(4), seen.steps[5])
    expect(
        "the child's reply, its stderr, and how it ended", got, (b"x\n", b"end\n", {"exited": 3})
    )


@requires("PROCESS-CHILD-04")
@pytest.mark.parametrize("names", [("CHLD",), ("CHLD", "ALRM", "USR1")], ids="-".join)
def test_an_end_is_noticed_where_the_caller_blocks_signals(
    case: ProcessCase, names: tuple[str, ...]
) -> None:
    state = [word for name in names for word in ("--block", name)]
    steps = [step("open"), step("wait", timeout_ms=2500), step("poll")]
    seen = case.process.script({"a": shell("sleep 0.1; exit 3")}, steps, state=state)
    expect("how the child ended, in both answers", seen.steps[1:], [{"exited": 3}] * 2)
