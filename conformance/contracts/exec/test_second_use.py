"""EXEC-CONC: several runs in one process, in every order, do not affect each other."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from boxspec.api import Late, expect, for_the_prompt, requires
from boxspec.api import programs as P
from contracts.exec.client import ExecCase, Run
from contracts.exec.moments import elapsed_ms, over_before_signal, pass_time, until
from contracts.exec.spawn_io import error_of, outcome, shell_request
from contracts.shared.after_effects import swallows
from contracts.shared.files import script_at
from contracts.shared.requests import ExecRequest
from contracts.shared.runs import RunAnswer

HERE = "exec.concurrent"

# Fields of a result that need a capability.
MORE = (
    "termination",
    "signal",
    "truncated",
    "detached_writers",
    "group_left",
    "killed_writers",
    "pending_signals",
)
OWN_END: dict[str, Any] = {
    "termination": "exit",
    "signal": None,
    "truncated": False,
    "detached_writers": False,
    "group_left": 0,
    "killed_writers": False,
    "pending_signals": [],
}


def plain(case: ExecCase, name: str, gate: Path | None = None) -> ExecRequest:
    """Return a request without options. Its child prints its input and environment, and exits with
    5.

    With `gate`, the child first waits at that fifo.
    """
    events = case.events("plain")
    wait = f'"{P.gate}" "{events.path}" "{gate}"; ' if gate else ""
    say = 'printf %s "$1"; printf %s "$1" >&2; pwd -P; cat; env | grep ^MARK='
    return shell_request(f'{wait}{say}; "{P.emit}" --sync "{events.path}"; exit 5', name)


def all_but_duration(run: RunAnswer) -> tuple[object, ...]:
    """Return all fields of a result except its duration."""
    if not run.ok:
        return (outcome(run), error_of(run).get("message"))
    result = run.result
    extras = {name: value for name, value in result.items() if name in MORE}
    return (outcome(run), run.stdout, run.stderr, {**OWN_END, **extras})


def expected_of(case: ExecCase, name: str) -> tuple[object, ...]:
    """Return the expected fields of a run of `plain`."""
    word = name.encode()
    return ("exit 5", word + bytes(case.exec.place) + b"\n", word, OWN_END)


ENDS: dict[str, Callable[[ExecCase], ExecRequest]] = {
    "exit": lambda case: {"program": P.exit_with, "args": ["3"]},
    "death": lambda case: {"program": P.die_by, "args": ["KILL"]},
    "deadline": lambda case: {
        "program": P.slow_exit,
        "args": ["/dev/null", "5000"],
        "timeout_ms": 150,
    },
    "unused_deadline": lambda case: {"program": P.exit_with, "args": ["3"], "timeout_ms": 300},
    "failed_spawn": lambda case: {"program": str(case.tmp / "absent")},
    "failed_stdin": lambda case: {
        "program": P.close_early,
        "args": ["/dev/null", "--in", "--then", "exit:0"],
        "stdin": b"x" * 300_000,
    },
    "another_place": lambda case: (
        shell_request("cat; pwd -P; exit 6")
        | {
            "stdin": b"payload",
            "current_dir": "/",
            "env": [("MARK", "set"), ("PATH", "/usr/bin:/bin")],
            "timeout_ms": 20_000,
        }
    ),
    "escapee": lambda case: {
        "program": P.orphan,
        "args": [case.events("escapee").path, "--setsid", "--keep", "out"],
    },
}
CUT: ExecRequest = {"program": P.flood, "args": ["1000", "1000"], "max_output_bytes": 10}


NAMES = ["around", "during", "after"]


def runs_around(case: ExecCase, other: ExecRequest) -> list[tuple[object, ...]]:
    """Return the results of three plain runs around another run.

    The first run begins before the other run and ends after it. The second runs during the other
    run, and the third after it.
    """
    fifo, events = case.fifo("open"), case.events("plain")
    runs: list[Run] = [
        (0, plain(case, "around", fifo)),
        (60, plain(case, "during")),
        (60, other),
        (500, plain(case, "after")),
    ]
    with case.exec.start_batch(runs, within_s=20) as shim:
        events.wait("ready", timeout_s=15)
        for _ in ("during", "after"):
            events.wait("sync", timeout_s=15)
        case.open_gate(fifo)
        around, first, _, last = shim.finish().runs
    return [all_but_duration(run) for run in (around, first, last)]


@pytest.mark.parametrize("how", ENDS)
@requires("EXEC-CONC-07", capability=HERE, overlap=1.0)
def test_the_end_of_one_run_does_not_affect_the_others(case: ExecCase, how: str) -> None:
    got = runs_around(case, ENDS[how](case))
    expect(
        "the results of the runs before, during and after it",
        got,
        [expected_of(case, name) for name in NAMES],
    )


@requires("EXEC-CONC-07", capability=(HERE, "exec.cap"), overlap=1.0)
def test_the_cap_of_one_run_does_not_affect_the_others(case: ExecCase) -> None:
    got = runs_around(case, CUT)
    expect(
        "the results of the runs before, during and after it",
        got,
        [expected_of(case, name) for name in NAMES],
    )


@requires("EXEC-CONC-07", capability=HERE, overlap=1.0, needs=["EXEC-SIGNAL-01"])
@pytest.mark.parametrize("order", ["over", "in_its_grace"])
def test_a_signal_during_one_run_does_not_affect_a_later_one(case: ExecCase, order: str) -> None:
    # The second run starts after the first has ended, or during its grace period.
    events, delay_ms = case.events(), {"over": 100, "in_its_grace": 1200}[order]
    first: ExecRequest = {
        "program": P.siglog,
        "args": [events.path, "--on", f"TERM:exit:0:{delay_ms}"],
    }
    with case.exec.start_batch([first, (700, plain(case, "later"))], within_s=15) as shim:
        events.wait("ready")
        sent = shim.signal("TERM")
        runs = shim.finish().runs
    got, wanted = (
        (outcome(runs[0]), all_but_duration(runs[1])),
        ("exit 143", expected_of(case, "later")),
    )
    # The caller may have handled the signal late, after the start of the second run.
    arrived = [each.t_ns for each in events.all("signal")] or [sent.t_ns]
    arrived_ms = elapsed_ms(shim.t_started_ns, arrived[0])
    if got != wanted and arrived_ms > 690:
        raise Late(
            "the signal is forwarded before the second run", "within 690 ms", f"{arrived_ms} ms"
        )
    with for_the_prompt(case):
        expect("the run that was signalled, and the one after it", got, wanted)


@requires(
    "EXEC-CONC-07",
    capability=HERE,
    overlap=2.0,
    needs=["EXEC-SIGNAL-01", "EXEC-DRAIN-08", "EXEC-RESULT-03"],
)
def test_a_signal_after_the_end_of_one_run_does_not_affect_a_later_one(case: ExecCase) -> None:
    # No run may report this signal: the child of the first run has ended, and the run only
    # continues to read because a process outside the group holds its output.
    events, after_ms = case.events(), 1800
    args = [events.path, "--setsid", "--keep", "out", "--exit", "7"]
    runs: list[Run] = [{"program": P.orphan, "args": args}, (after_ms, plain(case, "later"))]
    with case.exec.start_batch(runs, within_s=15, expect_result=False) as shim:
        events.wait("orphan")
        ended = events.wait("end")
        until(lambda: ended.pid not in {each.pid for each in shim.tree() if each.alive})
        # By this time, even an implementation that polls at every tick has noticed the end.
        pass_time(2 * case.tick_ms)
        sent = shim.signal("TERM")
        seen = shim.finish()
    sent_ms = elapsed_ms(shim.t_started_ns, sent.t_ns)
    if sent_ms > after_ms - 10:
        raise Late("the signal comes before the second run", f"{after_ms} ms", f"{sent_ms} ms")
    if seen.raw is None and seen.shim_exit == ("killed", signal.SIGTERM):
        raise over_before_signal(ended.t_ns, sent)
    got = (outcome(seen.runs[0]), all_but_duration(seen.runs[1]))
    with for_the_prompt(case):
        wanted = ("exit 7", expected_of(case, "later"))
        expect("the run that ended before the signal, and the one after it", got, wanted)


# For each label: the start of the second run in ms, and the run that ends first.
ORDERS = {
    "one_after_the_other": (400, "first"),
    "the_first_ends_first": (0, "first"),
    "the_second_ends_first": (0, "second"),
}


@pytest.mark.parametrize("name", ["TERM", "INT"])
@pytest.mark.parametrize("order", ORDERS)
@requires("EXEC-SIGNAL-09", pitfalls=["H11"], capability=HERE, overlap=0.8)
def test_after_several_runs_the_signal_acts_on_the_caller_as_before(
    case: ExecCase, order: str, name: str
) -> None:
    after_ms, ends_first = ORDERS[order]
    events = {which: case.events(which) for which in ("first", "second")}
    gates = {which: case.fifo(f"open-{which}") for which in events}
    ends_last = next(which for which in events if which != ends_first)
    runs: list[Run] = [
        (0, {"program": P.gate, "args": [events["first"].path, str(gates["first"])]}),
        (after_ms, {"program": P.gate, "args": [events["second"].path, str(gates["second"])]}),
    ]
    with case.exec.start_batch(runs, hold=True, expect_result=False, within_s=15) as shim:
        if not after_ms:
            events[ends_last].wait("ready")
        for which in (ends_first, ends_last):
            case.open_gate(gates[which])
            events[which].wait("end")
        shim.wait_response()
        swallowed = swallows(shim, name)
    with for_the_prompt(case):
        expect("whether the caller exited with status 0", swallowed, False)


@requires("EXEC-CONC-07", capability=HERE, overlap=0.8)
@pytest.mark.parametrize("after_ms", [0, 400], ids=["beside", "after"])
def test_a_run_without_options_takes_none_from_another(case: ExecCase, after_ms: int) -> None:
    place = case.tmp.resolve() / "elsewhere"
    place.mkdir()
    says = 'printf "%s " "$#" "$@"; env | grep ^MARK=; pwd -P; cat'
    tool = str(script_at(case.tmp / "tool", says))
    full: ExecRequest = {
        "program": tool,
        "args": ["one", "two"],
        "current_dir": str(place),
        "stdin": b"payload",
        "env": [("MARK", "set"), ("PATH", "/usr/bin:/bin")],
        "timeout_ms": 20_000,
    }
    runs: list[Run] = [(0, full), (after_ms, {"program": tool}), (2 * after_ms, full)]
    first, bare, last = case.exec.batch(runs).runs
    rich = ("exit 0", b"2 one two MARK=set\n" + bytes(place) + b"\npayload")
    expect(
        "how a run without options ended between two with many, and its output",
        [(outcome(run), run.stdout) for run in (first, bare, last)],
        [rich, ("exit 0", b"0 " + bytes(case.exec.place) + b"\n"), rich],
    )


@requires("EXEC-CONC-07", capability=(HERE, "exec.stdin_failure"), needs=["EXEC-STDIN-13"])
@pytest.mark.parametrize("after_ms", [-400, 0, 400], ids=["before", "beside", "after"])
def test_stdin_failure_of_one_run_does_not_apply_to_another(case: ExecCase, after_ms: int) -> None:
    run: ExecRequest = {"program": P.read_some, "args": ["1"], "stdin": b"x" * 2**20}
    lenient, strict = max(0, -after_ms), max(0, after_ms)
    runs: list[Run] = [(lenient, {**run, "stdin_failure": "ignore"}), (strict, run)]
    seen = case.exec.batch(runs).runs
    got = (outcome(seen[0]), error_of(seen[1]).get("kind"))
    expect("how one run ended, and the error of the other", got, ("exit 0", "execution"))


@pytest.mark.parametrize("how", ["failed_spawn", "failed_stdin"])
@pytest.mark.parametrize("first", ["started_first", "started_last"])
@requires("EXEC-CONC-03", capability=HERE, overlap=0.8, needs=["EXEC-SIGNAL-01"])
def test_a_run_that_fails_keeps_the_handlers_for_the_others(
    case: ExecCase, first: str, how: str
) -> None:
    events = case.events("long")
    long: ExecRequest = {"program": P.slow_exit, "args": [events.path, "20000"]}
    starts = {"started_first": (0, 60), "started_last": (60, 0)}[first]
    # There are only two runs, because a third one would install the handlers again and hide the
    # mistake.
    runs: list[Run] = [(starts[0], ENDS[how](case)), (starts[1], long)]
    with case.exec.start_batch(runs, within_s=15, expect_result=False) as shim:
        events.wait("ready")
        pass_time(7 * case.tick_ms)
        shim.signal("TERM")
        seen = shim.finish()
    got = seen.runs[1].result["exit_code"] if seen.ok else seen.shim_exit
    with for_the_prompt(case):
        expect("exit_code of the run that was still active", got, 143)


@requires("EXEC-CONC-07", capability=(HERE, "exec.debug"), overlap=0.8, needs=["EXEC-DEBUG-02"])
@pytest.mark.parametrize("after_ms", [0, 400], ids=["at_once", "later"])
def test_each_run_has_its_own_secrets(case: ExecCase, after_ms: int) -> None:
    def run(name: str) -> ExecRequest:
        words = ["--gap-us", "50000", "--out", f"<{name}-hunter2>\n".encode().hex()]
        env = [("MY_TOKEN", f"{name}-hunter2")]
        return {"program": P.emit, "args": words, "env": env, "debug": True}

    runs: list[Run] = [(0, run("first")), (after_ms, run("second")), (2 * after_ms, run("third"))]
    seen = case.exec.batch(runs)
    shown = (seen.shim_stderr.count(b"<[REDACTED_ENV]>"), b"hunter2" in seen.shim_stderr)
    expect(
        "how many secrets are replaced in the debug output, and whether it still has one",
        shown,
        (3, False),
    )


@requires("EXEC-CONC-07", capability=(HERE, "exec.debug"), overlap=0.8)
@pytest.mark.parametrize("after_ms", [-400, 0, 400], ids=["before", "beside", "after"])
def test_debug_of_one_run_does_not_copy_another(case: ExecCase, after_ms: int) -> None:
    def run(word: str, debug: bool) -> ExecRequest:
        words = ["--gap-us", "50000", "--out", f"<{word}>\n".encode().hex()]
        return {"program": P.emit, "args": words, "debug": debug}

    runs: list[Run] = [
        (max(0, -after_ms), run("copied", True)),
        (max(0, after_ms), run("quiet", False)),
    ]
    seen = case.exec.batch(runs)
    shown = [b"<copied>" in seen.shim_stderr, b"<quiet>" in seen.shim_stderr]
    expect("whether the output of each run is on the caller's stderr", shown, [True, False])
