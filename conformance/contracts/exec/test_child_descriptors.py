"""EXEC-CHILD: the descriptors of a child at its start."""

from __future__ import annotations

import json
import os
from itertools import combinations
from typing import Any

import pytest

from boxspec.api import Blocked, expect, requires
from boxspec.api import programs as P
from contracts.exec.client import ExecCase
from contracts.exec.spawn_io import fd_of, outcome, report, reported, shell, shell_request
from contracts.shared.callers import MANY_DESCRIPTORS, many_descriptors

# The child reads its payload before it reports, because an unread payload makes the run fail.
AFTER_PAYLOAD = 'cat >/dev/null; exec "$1" "$2" --out'


def report_after_payload(case: ExecCase, stdin: str | bytes) -> dict[str, Any]:
    """Return the report of a child that has read its payload, if there is one."""
    if not isinstance(stdin, bytes):
        return report(case, stdin=stdin)
    place = case.tmp / "report.json"
    case.exec.run(**shell(AFTER_PAYLOAD, P.report, place), stdin=stdin)
    return reported(place)


STDINS = pytest.mark.parametrize(
    "stdin", ["inherit", "null", b"abc"], ids=["inherit", "null", "bytes"]
)


@requires("EXEC-CHILD-03")
def test_stdout_and_stderr_are_two_pipes(case: ExecCase) -> None:
    found = report(case)
    out, err = fd_of(found, 1), fd_of(found, 2)
    expect(
        "types of the child's stdout and stderr, and whether they are two files",
        (out.get("type"), err.get("type"), out.get("ino") != err.get("ino")),
        ("pipe", "pipe", True),
    )


@requires("EXEC-CHILD-03", capability="exec.debug")
def test_stdout_and_stderr_are_two_pipes_with_debug_too(case: ExecCase) -> None:
    found = report(case, debug=True)
    out, err = fd_of(found, 1), fd_of(found, 2)
    expect(
        "types of the child's stdout and stderr, and whether they are two files",
        (out.get("type"), err.get("type"), out.get("ino") != err.get("ino")),
        ("pipe", "pipe", True),
    )


@requires("EXEC-CHILD-03")
def test_the_pipes_are_not_the_callers_own_streams(case: ExecCase) -> None:
    events, fifo, place = case.events(), case.fifo("gate"), case.tmp / "report"
    line = '"$1" "$2"; exec "$3" "$4" "$5"'
    words = (P.report, place, P.gate, events.path, fifo)
    with case.exec.start(**shell(line, *words), shim_stdout="pipe", shim_stderr="pipe") as shim:
        events.wait("ready")
        own = {os.stat(f"/proc/{shim.shim_pid}/fd/{fd}").st_ino for fd in (1, 2)}  # noqa: PTH116
    found = reported(place)
    shared = own & {fd_of(found, fd).get("ino") for fd in (1, 2)}
    expect("pipes that caller and child share", shared, set())


@requires("EXEC-CHILD-04", pitfalls=["C1"])
@STDINS
def test_the_child_has_only_0_1_and_2(case: ExecCase, stdin: Any) -> None:
    found = report_after_payload(case, stdin)
    expect("the child's descriptors", [each["fd"] for each in found["fds"]], [0, 1, 2])


@requires("EXEC-CHILD-04", pitfalls=["C1"], capability="exec.debug")
def test_the_child_has_only_0_1_and_2_with_debug_too(case: ExecCase) -> None:
    found = report(case, debug=True, shim_stderr="pipe")
    expect("the child's descriptors", [each["fd"] for each in found["fds"]], [0, 1, 2])


@requires("EXEC-CHILD-04", pitfalls=["C1", "C2"], capability="exec.concurrent")
def test_concurrent_children_have_only_0_1_and_2(case: ExecCase) -> None:
    run = shell_request('cat >/dev/null; exec "$1" /dev/null --out', P.report)
    # Some payloads exceed a pipe. So the caller's end of their pipe is still open while other
    # children start.
    inputs = [b"abc" * (70_000 if number < 3 else 1) for number in range(12)]
    seen = case.exec.batch(
        [(10 * (number % 3), run | {"stdin": stdin}) for number, stdin in enumerate(inputs)]
    )
    numbers = [[each["fd"] for each in json.loads(one.stdout)["fds"]] for one in seen.runs]
    expect("descriptors of twelve children", numbers, [[0, 1, 2]] * 12)


@requires("EXEC-CONC-04", pitfalls=["C2"], capability=("exec.concurrent", "exec.debug"))
def test_children_during_debug_output_have_only_0_1_and_2(case: ExecCase) -> None:
    # When a run starts, the debug output and the half-written payload of the run before it are
    # still open.
    line = '"$1" /dev/null --out; exec cat >/dev/null'
    run = shell_request(line, P.report) | {"stdin": b"abc" * 70_000, "debug": True}
    seen = case.exec.batch([(15 * number, run) for number in range(8)], shim_stderr="pipe")
    numbers = [[each["fd"] for each in json.loads(one.stdout)["fds"]] for one in seen.runs]
    expect("descriptors of eight children", numbers, [[0, 1, 2]] * 8)


@requires("EXEC-CHILD-05", pitfalls=["C4"])
@STDINS
def test_the_childs_pipe_ends_are_blocking(case: ExecCase, stdin: Any) -> None:
    found = report_after_payload(case, stdin)
    ends = [each for each in found["fds"] if each["type"] in ("pipe", "socket")]
    if not {1, 2} <= {each["fd"] for each in ends}:
        raise Blocked(["EXEC-CHILD-03"], "the output does not go through pipes")
    bad = [each["fd"] for each in ends if each["nonblock"]]
    expect("ends of pipes that are non-blocking in the child", bad, [])


@requires("EXEC-CHILD-09", pitfalls=["C1"])
def test_a_descriptor_that_the_caller_left_open_is_passed_on(case: ExecCase) -> None:
    kept = case.tmp / "kept"
    kept.write_text("x")
    state = ["--leave-open", f"9={kept}"]
    found = report(case, state=state)
    got = [(each["fd"], each["target"]) for each in found["fds"] if each["fd"] > 2]
    wanted = [(9, str(kept.resolve()))]
    if got != wanted:
        # Compare with an idle shim, because its runtime may mark descriptors close-on-exec before
        # any run.
        with case.idle(*state) as idle:
            wanted = idle.passed_on()
    expect("descriptors above 2 in the child, with their targets", got, wanted)


@requires("EXEC-CHILD-04", "EXEC-CHILD-09", pitfalls=["C1"], needs=["EXEC-SPAWN-17"])
@pytest.mark.parametrize("stdin", ["null", b"abc"], ids=["null", "bytes"])
def test_many_inherited_descriptors_are_all_that_a_child_has(case: ExecCase, stdin: Any) -> None:
    # Open descriptors use all low numbers, so the implementation's own descriptors get numbers
    # above these.
    state, place = many_descriptors(), case.tmp / "report.json"
    line = AFTER_PAYLOAD.replace(" --out", "")
    case.exec.run(**shell(line, P.report, place), stdin=stdin, state=state)
    got = {each["fd"] for each in reported(place)["fds"]}
    wanted = set(range(MANY_DESCRIPTORS))
    if got != wanted:
        with case.idle(*state) as idle:
            wanted = {0, 1, 2} | {fd for fd, _ in idle.passed_on()}
    expect("descriptors that only the child or only the caller has", sorted(got ^ wanted)[:9], [])


@requires("EXEC-CHILD-09", pitfalls=["C1"])
def test_descriptors_of_each_number_are_passed_on(case: ExecCase) -> None:
    kept = case.tmp / "kept"
    kept.write_text("x")
    state = [word for fd in (3, 4, 63, 255, 256, 511) for word in ("--leave-open", f"{fd}={kept}")]
    found = report(case, state=state)
    got = [(each["fd"], each["target"]) for each in found["fds"] if each["fd"] > 2]
    wanted = [(fd, str(kept.resolve())) for fd in (3, 4, 63, 255, 256, 511)]
    if got != wanted:
        with case.idle(*state) as idle:
            wanted = idle.passed_on()
    expect("descriptors above 2 in the child, with their targets", got, wanted)


@requires("EXEC-CHILD-09", pitfalls=["C4"])
@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "non-blocking"])
def test_the_flags_of_an_inherited_stdin_do_not_change(case: ExecCase, blocking: bool) -> None:
    reader, writer = os.pipe()
    try:
        os.set_blocking(reader, blocking)
        found = report(case, stdin="inherit", shim_stdin=reader)
        got = (not fd_of(found, 0).get("nonblock"), os.get_blocking(reader))
        expect(
            "whether the pipe is in blocking mode in the child, and after the run",
            got,
            (blocking, blocking),
        )
    finally:
        os.close(reader)
        os.close(writer)


@requires("EXEC-CHILD-09")
@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "non-blocking"])
def test_the_flags_of_the_callers_own_output_do_not_change(case: ExecCase, blocking: bool) -> None:
    reader, writer = os.pipe()
    try:
        os.set_blocking(writer, blocking)
        case.exec.run(program="/bin/true", shim_stdout=writer)
        expect(
            "whether the caller's stdout is in blocking mode after the run",
            os.get_blocking(writer),
            blocking,
        )
    finally:
        os.close(reader)
        os.close(writer)


SUBSETS = [
    pytest.param(each, id="".join(map(str, each)))
    for size in (1, 2, 3)
    for each in combinations((0, 1, 2), size)
]


@requires("EXEC-CHILD-10", pitfalls=["C6"])
@pytest.mark.parametrize("closed", SUBSETS)
def test_runs_work_with_standard_descriptors_closed_in_the_caller(
    case: ExecCase, closed: tuple[int, ...]
) -> None:
    place = case.tmp / "report"
    state = [word for fd in closed for word in ("--close", str(fd))]
    line = 'echo out; echo err >&2; exec "$1" "$2"'
    seen = case.exec.run(**shell(line, P.report, place), state=state)
    found = reported(place)
    # EXEC-CHILD-03 tests the target of stdout, and the next test tests the source of stdin.
    expect(
        "how the child ended, what it wrote, and whether it has its three descriptors",
        (outcome(seen), seen.stdout, seen.stderr, [each["fd"] for each in found["fds"]][:3]),
        ("exit 0", b"out\n", b"err\n", [0, 1, 2]),
    )


@requires("EXEC-CHILD-10", pitfalls=["C6"])
@pytest.mark.parametrize("more", [(), ("1",), ("2",), ("1", "2")], ids=["0", "01", "02", "012"])
def test_an_inherited_stdin_is_dev_null_where_the_caller_has_none(
    case: ExecCase, more: tuple[str, ...]
) -> None:
    state = [word for fd in ("0", *more) for word in ("--close", fd)]
    found = report(case, stdin="inherit", state=state)
    expect("the child's stdin", fd_of(found, 0).get("target"), "/dev/null")


@requires("EXEC-CHILD-10", pitfalls=["C6"])
@pytest.mark.parametrize("closed", SUBSETS)
def test_a_payload_arrives_with_standard_descriptors_closed(
    case: ExecCase, closed: tuple[int, ...]
) -> None:
    state = [word for fd in closed for word in ("--close", str(fd))]
    seen = case.exec.run(program=P.read_some, args=["3", "--exit", "7"], stdin=b"abc", state=state)
    expect("how a child that reads three bytes ended", outcome(seen), "exit 7")
