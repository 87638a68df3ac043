"""PROCESS-CHILD and PROCESS-OPEN: the inherited state, the streams, and unusual requests.

Some of the requests cannot start a program.
"""

from __future__ import annotations

import itertools
import json
import os
from typing import Any

import pytest

from boxspec.api import Events, Failure, NotApplicable, NotMeasured, expect, one_of, requires
from boxspec.api import programs as P
from contracts.process.client import ProcessCase, RequestFields, ScriptOptions, handle, step
from contracts.process.client import request as made
from contracts.process.judging import CAT, Pause, carried_out, shell
from contracts.process.test_child import HOW, reported
from contracts.shared.callers import IGNORES_CHLD, resets_sigchld
from contracts.shared.files import program_at, script_at
from contracts.shared.inherited import UNUSUAL, expect_the_callers
from contracts.shared.moments import until


@requires("PROCESS-CHILD-05", needs=["PROCESS-CHILD-02"])
@HOW
def test_the_state_of_the_caller_is_inherited(case: ProcessCase, how: str) -> None:
    expect_the_callers(case, reported(case, how, state=UNUSUAL))


@requires("PROCESS-CHILD-06")
@HOW
def test_a_process_leads_a_group_in_the_callers_session(case: ProcessCase, how: str) -> None:
    if case.process.inside.name is not None:
        raise NotApplicable("inside a sandbox, the program is a child of its launcher")
    # The shim leads a session, so its pid is the number of the session.
    said = reported(case, how, state=["--setsid"])
    expect("group and session", (said["pgid"], said["sid"]), (said["pid"], said["ppid"]))


@requires("PROCESS-CHILD-07")
@pytest.mark.parametrize("how", ["blocking", "nonblocking", "bridge"])
def test_the_childs_ends_of_the_pipes_are_blocking(case: ProcessCase, how: str) -> None:
    place = case.tmp / "report.json"
    if how == "bridge":
        case.process.bridge(P.report, [place])
    else:
        handles = {"a": handle(P.report, [place], nonblocking=how == "nonblocking")}
        case.process.script(handles, [step("open"), step("wait")])
    if not place.exists():
        raise Failure("the program runs", "its report", "no such file", {})
    ends = [each["fd"] for each in json.loads(place.read_text())["fds"] if each["nonblock"]]
    expect("descriptors of the child in non-blocking mode", ends, [])


# The modes of a stream: the child gets the file of the caller, a pipe or socket, or /dev/null.
INHERITED, PIPED, NULL = 0, 1, 2
READS, WRITES = (os.O_RDONLY, os.O_RDWR), (os.O_WRONLY, os.O_RDWR)


def odd_streams(modes: tuple[int, ...], fds: list[dict[str, Any]]) -> list[str]:
    """Return a line for each stream of a child that does not have its mode.

    The caller has a file on each stream.
    """
    wrong = []
    for each, mode in zip(fds, modes, strict=False):
        number, target = each["fd"], each["target"]
        right = {
            INHERITED: target.endswith(f"/callers-{number}"),
            PIPED: each["type"] in ("pipe", "socket"),
            NULL: target == "/dev/null",
        }[mode]
        usable = each["flags"] & os.O_ACCMODE in (READS if number == 0 else WRITES)
        if not right or not usable:
            wrong.append(f"{number}: mode {mode}, {target}, flags {each['flags']:o}")
    return wrong


@requires("PROCESS-OPEN-04", needs=["PROCESS-CHILD-02"])
def test_each_stream_has_its_own_mode(case: ProcessCase) -> None:
    if case.process.inside.name is not None:
        raise NotApplicable("inside a sandbox, a regular file arrives as a pipe")
    every = list(itertools.product((INHERITED, PIPED, NULL), repeat=3))
    names = {"".join(map(str, modes)): modes for modes in every}
    handles = {
        name: handle(P.report, [case.tmp / name], stdin=modes[0], stdout=modes[1], stderr=modes[2])
        for name, modes in names.items()
    }
    steps = [step(kind, name) for name in names for kind in ("open", "wait")]
    state = []
    for number in (0, 1, 2):
        (case.tmp / f"callers-{number}").touch()
        state += ["--leave-open", f"{number}={case.tmp / f'callers-{number}'}"]
    case.process.script(handles, steps, state=state, within_s=20)
    found = {name: json.loads((case.tmp / name).read_text())["fds"] for name in names}
    wrong = {name: odd_streams(modes, found[name]) for name, modes in names.items()}
    expect(
        "streams that differ from their modes, by the modes of stdin, stdout and stderr",
        {name: each for name, each in wrong.items() if each},
        {},
    )


# Requests that cannot start a program.
REFUSED: dict[str, dict[str, Any]] = {
    "an empty name": {"env": {"clear_and_set": [["", "c"]]}},
    "a name with =": {"env": {"clear_and_set": [["A=B", "c"]]}},
    "only =": {"env": {"clear_and_set": [["=", "c"]]}},
    "an empty program": {"program": ""},
    "a name longer than any file's": {"program": "/bin/" + "x" * 300},
    "a directory longer than any path": {"current_dir": "/" + "x/" * 3000},
    "an argument longer than any": {"args": ["x" * 140_000]},
}
USUAL = {"program": "/bin/echo", "args": ["here"]}


def start(case: ProcessCase, how: str, odd: dict[str, Any]) -> tuple[str, bytes]:
    """Start a program by a request with these unusual fields.

    Return the kind of the error, and the output of the program.
    """
    request: dict[str, Any] = USUAL | odd
    fields: RequestFields = {}
    if "env" in request:
        fields["env"] = request["env"]
    if "current_dir" in request:
        fields["current_dir"] = request["current_dir"]
    options: ScriptOptions = {"expect_result": False, "within_s": 15}
    words = (request["program"], request["args"])
    if how == "bridge":
        bridged = case.process.bridge(*words, fields=fields, **options)
        return str((bridged.error if not bridged.ok else {}).get("kind")), bridged.shim_stdout
    handles = {"a": {"request": made(*words, **fields)}}
    steps = [step("open"), step("read_eof", stream="stdout")]
    seen = case.process.script(handles, steps, **options)
    told = seen.steps[0].get("error", {}) if seen.ok else seen.error
    printed = seen.data(1) if seen.ok and not told else b""
    return str(told.get("kind")), printed


@requires("PROCESS-OPEN-11")
def test_a_request_that_no_program_can_have_is_refused(case: ProcessCase) -> None:
    handles = {what: {"request": USUAL | odd} for what, odd in REFUSED.items()}
    handles["control"] = {"request": USUAL}
    seen = case.process.script(handles, [step("open", what) for what in handles], within_s=20)
    errors = {what: each.get("error") for what, each in zip(handles, seen.steps, strict=True)}
    expect("the error of a request without such a mistake", errors.pop("control"), None)
    kinds = {what: (error or {}).get("kind", "no error") for what, error in errors.items()}
    expect("kinds of the errors", kinds, dict.fromkeys(kinds, "execution"))


@requires("PROCESS-OPEN-11")
@pytest.mark.parametrize("what", ["a name with =", "an empty program"])
def test_a_bridge_refuses_such_a_request(case: ProcessCase, what: str) -> None:
    expect("the error, and the output", start(case, "bridge", REFUSED[what]), ("execution", b""))


@requires("PROCESS-OPEN-11")
def test_an_empty_directory_is_refused(case: ProcessCase) -> None:
    # Inside a sandbox only an absolute path can name a directory.
    kinds = one_of(("execution", b""), ("invalid_input", b""))
    expect("the error, and the output", start(case, "script", {"current_dir": ""}), kinds)


NULS: dict[str, dict[str, Any]] = {
    "program": {"program": "/bin/echo\0x"},
    "argument": {"args": ["here\0x"]},
    "directory": {"current_dir": "/\0x"},
    "value": {"env": {"clear_and_set": [["A", "b\0c"]]}},
    "name": {"env": {"clear_and_set": [["A\0B", "c"]]}},
}


@requires("PROCESS-OPEN-11")
@pytest.mark.parametrize("what", NULS)
def test_a_string_is_not_cut_at_a_nul_byte(case: ProcessCase, what: str) -> None:
    # If the language has NUL-terminated strings, the request itself is refused.
    kinds = one_of(("execution", b""), ("invalid_input", b""))
    expect("the error, and the output", start(case, "script", NULS[what]), kinds)


@requires("PROCESS-OPEN-11", needs=["PROCESS-CHILD-01"])
def test_a_bridge_does_not_cut_an_argument_at_a_nul_byte(case: ProcessCase) -> None:
    kinds = one_of(("execution", b""), ("invalid_input", b""))
    expect("the error, and the output", start(case, "bridge", NULS["argument"]), kinds)


@requires("PROCESS-OPEN-11")
@HOW
def test_a_text_file_is_not_given_to_a_shell(case: ProcessCase, how: str) -> None:
    mark = case.tmp / "mark"
    text = script_at(case.tmp / "text", f': >"{mark}"', first="")
    error, _ = carried_out(case, how, str(text), expect_result=False)
    got = ((error or {}).get("kind"), mark.exists())
    expect("the error, and whether the file was executed", got, ("execution", False))


@requires("PROCESS-OPEN-11")
def test_a_program_that_is_open_for_writing_is_refused(case: ProcessCase) -> None:
    if case.process.inside.name is not None:
        raise NotApplicable("inside a sandbox, a launcher executes the program")
    tool = program_at(case.tmp / "tool")
    steps = [step("open"), step("wait")]
    with tool.open("r+b"):
        busy = case.process.script({"a": handle(str(tool), ["0"])}, steps, within_s=10)
    expect("the kind of the error", busy.steps[0].get("error", {}).get("kind"), "execution")


@requires("PROCESS-CHILD-01")
@HOW
def test_the_last_of_two_values_of_a_name_counts(case: ProcessCase, how: str) -> None:
    env = {"clear_and_set": [["BOXSPEC_A", "1"], ["BOXSPEC_B", "2"], ["BOXSPEC_A", "3"]]}
    _, out = carried_out(case, how, "/usr/bin/env", fields={"env": env})
    lines = sorted(line for line in out.decode().splitlines() if line.startswith("BOXSPEC_"))
    expect("the variables", lines, ["BOXSPEC_A=3", "BOXSPEC_B=2"])


@requires("PROCESS-OPEN-09", needs=["PROCESS-DROP-01", "PROCESS-CHILD-01"])
def test_a_handle_that_is_opened_again_has_its_request_and_modes(case: ProcessCase) -> None:
    """Open a handle twice, and compare the two processes.

    Both must have the directory, environment, arguments and modes of the handle.
    """
    place = case.tmp / "place"
    place.mkdir()
    line = 'pwd >&2; echo "$BOXSPEC_A $1" >&2; exec sleep 60'
    again = shell(line, "word", nonblocking=True, stdout=2)
    again["request"] |= {
        "current_dir": str(place),
        "env": {"clear_and_set": [["BOXSPEC_A", "a"], ["PATH", "/usr/bin:/bin"]]},
    }
    use = [
        *(step("open"), step("streams"), step("write", data=b"x" * 2**20)),
        *(step("kill"), step("wait", timeout_ms=10_000), step("read_eof", stream="stderr")),
    ]
    seen = case.process.script({"a": again}, [*use, step("drop"), *use, step("drop")], within_s=20)
    # The pid and the output before the kill may differ.
    facts = [
        (seen.steps[at + 1], seen.steps[at + 2].get("errno"), seen.steps[at + 4])
        for at in (0, len(use) + 1)
    ]
    wanted = ({"stdin": True, "stdout": False, "stderr": True}, "EAGAIN", {"signaled": "SIGKILL"})
    expect(
        "streams, errno of a write to a full pipe, and how the child ended, for both openings",
        facts,
        [wanted] * 2,
    )


@requires("PROCESS-WAIT-04", needs=["PROCESS-WAIT-03"])
def test_a_wait_without_limit_ends_the_input_after_others(case: ProcessCase) -> None:
    looks = [step("wait", timeout_ms=20), step("poll"), step("wait", timeout_ms=1)]
    steps = [step("open"), *looks, step("wait")]
    seen = case.process.script({"a": handle(CAT)}, steps, within_s=8)
    expect("how the child ended", seen.steps[-1], {"exited": 0})


@requires("PROCESS-KILL-01")
def test_each_of_several_terminates_sends_a_signal(case: ProcessCase) -> None:
    events, pauses = case.events(), [Pause(case, f"pause-{n}") for n in range(3)]
    handles = {"a": handle(P.siglog, [events.path])}
    handles |= {each.name: each.handle for each in pauses}
    first, second, third = (each.steps for each in pauses)
    steps = [step("open"), *first, step("terminate"), *second, step("terminate"), *third]
    with case.process.start(handles, [*steps, step("kill")], within_s=15) as shim:
        events.wait("ready")
        for number, pause in enumerate(pauses):
            pause.reached()
            # While a signal is pending, a second signal with the same number is lost.
            received(events, number)
            pause.go_on()
        shim.finish()
    told = [event.rest[0] for event in events.all("signal")]
    expect("signals that the child received", told, ["TERM", "TERM"])


def received(events: Events, count: int) -> None:
    """Wait until the child has logged `count` signals, at most 5 s because one may be missing."""
    until(lambda: len(events.all("signal")) >= count, 5)


@requires("PROCESS-OPEN-12", needs=["PROCESS-CHILD-01"])
@HOW
def test_no_process_starts_where_the_kernel_reaps_children(case: ProcessCase, how: str) -> None:
    if case.process.inside.name is not None:
        raise NotApplicable(
            "while SIGCHLD is ignored, the sandbox's own programs cannot be waited for"
        )
    started = case.tmp / "started"
    options: ScriptOptions = {"state": IGNORES_CHLD, "expect_result": False}
    error, _ = carried_out(case, how, P.count_start, [started], **options)
    got, wanted = ((error or {}).get("kind"), started.exists()), ("execution", False)
    if got != wanted and resets_sigchld(case):
        raise NotMeasured("the runtime of the shim resets SIGCHLD before it starts a process")
    expect("the error, and whether the program was started", got, wanted)
