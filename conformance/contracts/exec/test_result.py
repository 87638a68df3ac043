"""EXEC-RESULT: exit codes, signals, fields, durations and the reason of the end."""

from __future__ import annotations

import json

import pytest

from boxspec.api import Late, between, expect, requires
from boxspec.api import programs as P
from contracts.exec.client import ExecCase
from contracts.exec.moments import FOREVER_MS, elapsed_ms, need_preload
from contracts.exec.spawn_io import shell
from contracts.shared.requests import Command, Limits

CODES = [0, 1, 2, 3, 4, 8, 16, 32, 63, 64, 100, 124, 125, 126, 127, 128, 129, 131, 137, 159, 192]
CODES += [200, 254, 255]


@pytest.mark.parametrize("code", CODES)
@requires("EXEC-RESULT-01", pitfalls=["I1"])
def test_an_exit_code_is_reported_unchanged(case: ExecCase, code: int) -> None:
    result = case.exec.run(program=P.exit_with, args=[str(code)]).result
    expect(
        "success and exit_code of the child's own exit",
        (result["success"], result["exit_code"]),
        (code == 0, code),
    )


LEFT = {
    "a member that holds the pipes": [],
    "a member without the pipes": ["--keep", "none"],
    "a daemon that holds the pipes": ["--setsid", "--double"],
}


@pytest.mark.parametrize("left", LEFT)
@pytest.mark.parametrize("code", [0, 5])
@requires("EXEC-RESULT-01", overlap=1.5, needs=["EXEC-ORPHAN-01", "EXEC-DRAIN-08"])
def test_an_exit_code_does_not_depend_on_processes_left(
    case: ExecCase, code: int, left: str
) -> None:
    args = [case.events().path, "--exit", str(code), *LEFT[left]]
    result = case.exec.run(program=P.orphan, args=args, within_s=12).result
    got = (result["success"], result["exit_code"])
    expect("success and exit_code of a child that left a process", got, (code == 0, code))


@pytest.mark.parametrize("core", ["0", "1048576"], ids=["no_core", "core"])
@pytest.mark.parametrize("name", ["KILL", "SEGV", "ABRT", "PIPE", "TERM", "INT", "HUP"])
@requires("EXEC-RESULT-02", pitfalls=["I2"])
def test_a_death_by_the_childs_own_signal_has_no_code_and_no_annotation(
    case: ExecCase, name: str, core: str
) -> None:
    # The working directory of the shim is the folder of the test. So its core file is written there
    # if the signal kills the shim.
    state = ["--core", core, "--cwd", str(case.tmp)]
    seen = case.exec.run(program=P.die_by, args=[name], current_dir=str(case.tmp), state=state)
    expect(
        "success, exit_code and stderr of a child that a signal of its own killed",
        (seen.result["success"], seen.result["exit_code"], seen.stderr),
        (False, None, b""),
    )


# 37 and 64 are real-time signals without a name; 16 (SIGSTKFLT) has no name on some systems.
@pytest.mark.parametrize("number", [16, 37, 64])
@requires("EXEC-RESULT-02", pitfalls=["I2"])
def test_a_death_by_an_unnamed_signal_has_no_code_and_no_annotation(
    case: ExecCase, number: int
) -> None:
    seen = case.exec.run(**shell('kill -"$1" $$', number))
    expect(
        "success, exit_code and stderr of a child that a signal of its own killed",
        (seen.result["success"], seen.result["exit_code"], seen.stderr),
        (False, None, b""),
    )


@pytest.mark.parametrize("code", [130, 143])
@requires("EXEC-RESULT-03")
def test_a_code_that_looks_like_a_signal_is_only_a_code(case: ExecCase, code: int) -> None:
    seen = case.exec.run(program=P.exit_with, args=[str(code)])
    expect(
        "success, exit_code and stderr of a child that exits by itself",
        (seen.result["success"], seen.result["exit_code"], seen.stderr),
        (False, code, b""),
    )


@pytest.mark.parametrize("text", ["plain", '{"output": {"a": 1}}'], ids=["text", "json"])
@requires("EXEC-RESULT-04", pitfalls=["I17"])
def test_a_result_has_its_fields_and_output_is_null(case: ExecCase, text: str) -> None:
    result = case.exec.run(program=P.say, args=[text]).result
    got = {
        name: type(result.get(name)).__name__ for name in ("success", "exit_code", "duration_ms")
    }
    got["output"] = json.dumps(result.get("output", "absent"))
    got["streams"] = str(all(n in result or f"{n}_b64" in result for n in ("stdout", "stderr")))
    expect(
        "the fields of a result",
        got,
        {
            "success": "bool",
            "exit_code": "int",
            "duration_ms": "int",
            "output": "null",
            "streams": "True",
        },
    )


# The longest duration exceeds a second, for implementations that lose the seconds.
@pytest.mark.parametrize("ms", [0, 130, 370, 1900])
@requires("EXEC-RESULT-05", pitfalls=["I17"], overlap=0.5, timing=True)
def test_the_duration_covers_the_childs_life_and_fits_into_the_shims(
    case: ExecCase, ms: int
) -> None:
    events = case.events()
    seen = case.exec.run(program=P.slow_exit, args=[events.path, str(ms)])
    life_ns = events.wait("end").t_ns - events.wait("ready").t_ns
    expect(
        "duration_ms, at least the child's life and at most the shim's",
        seen.result["duration_ms"],
        between(life_ns // 10**6, seen.elapsed_ms),
        evidence={"child_ms": life_ns / 1e6, "shim_ms": seen.elapsed_ms},
    )


@requires("EXEC-RESULT-05", overlap=0.5, timing=True)
def test_an_interrupted_run_has_its_duration(case: ExecCase) -> None:
    events = case.events()
    seen = case.exec.run(program=P.slow_exit, args=[events.path, "1500"], timeout_ms=200)
    # Half of the deadline is enough here, because other tests check the time of the deadline.
    expect(
        "duration_ms, at least half of the deadline and at most the shim's life",
        seen.result["duration_ms"],
        between(100, seen.elapsed_ms),
    )


# Children that log two events, and how each of them ends after the second one.
LIVES: dict[str, tuple[str, Limits]] = {
    "in_the_grace_of_a_deadline": ("", {"timeout_ms": 600}),
    "by_a_death": ('"$1" --sync "$2" --gap-us 300000 --sync "$2"; kill -KILL $$', {}),
    "by_an_exit": ('"$1" --sync "$2" --gap-us 300000 --sync "$2"; exit 3', {}),
}


@pytest.mark.parametrize("how", LIVES)
@requires("EXEC-RESULT-05", "EXEC-RESULT-10", pitfalls=["I17"], overlap=1.5, needs=["EXEC-KILL-01"])
def test_the_duration_covers_the_childs_life_however_it_ends(case: ExecCase, how: str) -> None:
    events, (line, limit) = case.events(), LIVES[how]
    slow: Command = {"program": P.siglog, "args": [events.path, "--on", "TERM:exit:0:600"]}
    request = shell(line, P.emit, events.path) if line else slow
    seen = case.exec.run(**request, **limit, within_s=20)
    marks = [event.t_ns for event in events.all() if event.word in ("ready", "end", "sync")]
    if len(marks) == 2:
        least = (marks[1] - marks[0]) // 10**6
    elif marks and limit:
        # Without a grace period the child lives until its deadline. Half of that time is a bound
        # that holds on a busy machine too.
        least = limit["timeout_ms"] // 2
    else:
        raise Late("the child ends by itself", "two events", str(len(marks)))
    expect(
        "duration_ms, at least the child's life and at most the shim's",
        seen.result["duration_ms"],
        between(least, seen.elapsed_ms),
    )


@requires("EXEC-RESULT-10", overlap=1.0, needs=["EXEC-DRAIN-08"])
def test_the_duration_covers_the_reading_of_output_after_the_childs_end(case: ExecCase) -> None:
    # A process outside the group holds stdout, writes half a second after the leader's end, and
    # exits.
    escapee, leader, fifo = case.events("escapee"), case.events("leader"), case.fifo("open")
    away = 'setsid "$1" --sync "$2" --gap-us 500000 --sync "$2" --out "$3" &'
    words = (P.emit, escapee.path, b"late".hex(), P.gate, leader.path, fifo)
    with case.exec.start(**shell(f'{away} exec "$4" "$5" "$6"', *words), within_s=12) as shim:
        begun = leader.wait("ready").t_ns
        escapee.wait("sync")
        case.open_gate(fifo)
        seen = shim.finish()
    if seen.stdout != b"late" or len(written := escapee.all("sync")) < 2:
        raise Late("the run reads output half a second later", "late", str(seen.stdout))
    least = elapsed_ms(begun, written[1].t_ns)
    expect(
        "duration_ms: at least from the child's start to its output, at most the shim's life",
        seen.result["duration_ms"],
        between(int(least), seen.elapsed_ms),
    )


def outcome(
    case: ExecCase, args: list[str], timeout_ms: int, state: list[str]
) -> tuple[object, ...]:
    """Return success, exit_code, and whether the duration is plausible, of a run in this state."""
    with case.exec.start(
        program=P.slow_exit, args=args, timeout_ms=timeout_ms, state=state, hold=True, within_s=15
    ) as shim:
        shim.wait_response()
        if state:
            need_preload(shim, "clock_step")
        seen = shim.finish()
    duration = seen.result["duration_ms"]
    shortest = min(int(args[1]), timeout_ms) // 2
    sane = shortest <= duration <= seen.elapsed_ms
    return (seen.result["success"], seen.result["exit_code"], "sane" if sane else duration)


@pytest.mark.parametrize(
    ("life_ms", "timeout_ms"), [(250, 30_000), (8000, 250)], ids=["exit", "deadline"]
)
@requires("EXEC-RESULT-06", pitfalls=["G12"], overlap=0.6)
def test_a_wall_clock_that_jumps_changes_nothing(
    case: ExecCase, life_ms: int, timeout_ms: int
) -> None:
    # Compare with an equal run under a steady clock. So only the clock differs.
    events = case.events()
    args = [events.path, str(life_ms)]
    jumping = ["--preload", P.preload("clock_step")]
    steady = outcome(case, args, timeout_ms, [])
    expect(
        "success, exit_code and duration under a wall clock that jumps by an hour",
        outcome(case, args, timeout_ms, jumping),
        steady,
    )


@pytest.mark.parametrize(
    ("program", "args", "expected"),
    [
        ("exit_with", ["0"], ("exit", None)),
        ("exit_with", ["143"], ("exit", None)),
        ("die_by", ["KILL"], ("signal", "SIGKILL")),
        ("die_by", ["TERM"], ("signal", "SIGTERM")),
    ],
    ids=["exit", "exit_143", "sigkill", "sigterm"],
)
@requires("EXEC-RESULT-07", capability="exec.termination")
def test_termination_names_the_childs_own_end(
    case: ExecCase, program: str, args: list[str], expected: tuple[str, str | None]
) -> None:
    result = case.exec.run(program=getattr(P, program), args=args).result
    expect("termination and signal", (result["termination"], result["signal"]), expected)


@requires("EXEC-RESULT-07", capability="exec.termination", overlap=0.5)
def test_termination_names_the_deadline(case: ExecCase) -> None:
    events = case.events()
    seen = case.exec.run(program=P.slow_exit, args=[events.path, "4000"], timeout_ms=200)
    # If the deadline does not work, the child ends by itself, and the reason `exit` is correct.
    reached = bool(events.all("end"))
    expect(
        "termination of a run that its deadline ended",
        seen.result["termination"],
        "exit" if reached else "timeout",
    )


@pytest.mark.parametrize("name", ["TERM", "INT"])
@requires("EXEC-RESULT-07", capability="exec.termination")
def test_termination_names_the_callers_signal(case: ExecCase, name: str) -> None:
    events = case.events()
    with case.exec.start(program=P.slow_exit, args=[events.path, FOREVER_MS]) as shim:
        events.wait("ready")
        shim.signal(name)
        result = shim.finish().result
    expect(
        "termination and signal of a run that the caller's signal ended",
        (result["termination"], result["signal"]),
        ("parent_signal", f"SIG{name}"),
    )


@pytest.mark.parametrize("name", ["stdout", "stderr"])
@requires("EXEC-RESULT-07", capability=("exec.termination", "exec.cap"), needs=["EXEC-CAP-01"])
def test_termination_names_the_cap(case: ExecCase, name: str) -> None:
    # `signal` is empty, because the implementation itself sends SIGKILL.
    sizes = ["5000", "0"] if name == "stdout" else ["0", "5000"]
    result = case.exec.run(program=P.flood, args=sizes, max_output_bytes=100).result
    expect("termination and signal", (result["termination"], result["signal"]), ("cap", None))


@pytest.mark.parametrize("name", ["TERM", "INT"])
@requires("EXEC-RESULT-07", capability="exec.termination", overlap=6.0, needs=["EXEC-SIGNAL-04"])
def test_termination_names_the_callers_signal_where_sigkill_was_needed(
    case: ExecCase, name: str
) -> None:
    events = case.events()
    args = [events.path, "--ignore", name]
    with case.exec.start(program=P.siglog, args=args, within_s=20) as shim:
        events.wait("ready")
        shim.signal(name)
        result = shim.finish().result
    got = (result["termination"], result["signal"])
    expect("termination and signal", got, ("parent_signal", f"SIG{name}"))
