"""EXEC-CONC: if two runs have the same option, the second run acts as if it were the first."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from boxspec.api import expect, for_the_prompt, requires
from boxspec.api import programs as P
from contracts.exec.client import ExecCase, Run
from contracts.exec.spawn_io import error_of, pattern, shell_request
from contracts.shared.files import script_at
from contracts.shared.requests import ExecRequest
from contracts.shared.runs import RunAnswer

HERE = "exec.concurrent"


def unread(case: ExecCase) -> ExecRequest:
    """Return a run whose payload fails."""
    args = ["/dev/null", "--in", "--then", "exit:0"]
    return {"program": P.close_early, "args": args, "stdin": b"x" * 300_000}


def found_in(case: ExecCase, name: str) -> ExecRequest:
    """Return a run of the program `tool` in a PATH that has only the directory `name`."""
    place = case.tmp / name
    place.mkdir(exist_ok=True)
    script_at(place / "tool", f"echo {name}")
    return {"program": "tool", "env": [("PATH", str(place))]}


def with_variable(name: str) -> ExecRequest:
    return {"program": "/usr/bin/env", "env": [(name, "set")]}


def timed_out(_case: ExecCase) -> ExecRequest:
    return {"program": P.slow_exit, "args": ["/dev/null", "5000"], "timeout_ms": 150}


def tidying(_case: ExecCase) -> ExecRequest:
    """Return a run whose child uses a part of its grace period to tidy up."""
    line = "trap 'sleep 0.2; echo bye; exit 0' TERM; while :; do sleep 0.02; done"
    return shell_request(line) | {"timeout_ms": 700}


def missing_directory(case: ExecCase) -> ExecRequest:
    return {"program": P.exit_with, "args": ["3"], "current_dir": str(case.tmp / "missing")}


FAILED = ("execution", b"")
# Each pair consists of a capability, a first run, a second run with the same option, and the end
# and output of the second run.
PAIRS: dict[
    str,
    tuple[str, Callable[[ExecCase], ExecRequest], Callable[[ExecCase], ExecRequest], object],
] = {
    "a failed payload, then a payload": (
        HERE,
        unread,
        lambda _: {"program": "/bin/cat", "stdin": b"second"},
        ("exit 0", b"second"),
    ),
    "a payload, then a failed payload": (
        HERE,
        lambda _: {"program": "/bin/cat", "stdin": b"first"},
        unread,
        FAILED,
    ),
    "a cap, then a cap that is not reached": (
        "exec.cap",
        lambda _: {"program": P.flood, "args": ["90", "0"], "max_output_bytes": 100},
        lambda _: {"program": P.flood, "args": ["90", "0"], "max_output_bytes": 100},
        ("exit 0", pattern(90)),
    ),
    "a cap that is exceeded, then a cap that is not reached": (
        "exec.cap",
        lambda _: {"program": P.flood, "args": ["1000", "1000"], "max_output_bytes": 10},
        lambda _: {"program": P.flood, "args": ["10", "0"], "max_output_bytes": 10},
        ("exit 0", pattern(10)),
    ),
    "an environment, then another one": (
        HERE,
        lambda _: with_variable("FIRST"),
        lambda _: with_variable("SECOND"),
        ("exit 0", b"SECOND=set\n"),
    ),
    "an environment, then an empty one": (
        HERE,
        lambda _: with_variable("FIRST"),
        lambda _: {"program": "/usr/bin/env", "env": []},
        ("exit 0", b""),
    ),
    "a name in one PATH, then in another one": (
        HERE,
        lambda case: found_in(case, "first"),
        lambda case: found_in(case, "second"),
        ("exit 0", b"second\n"),
    ),
    "a deadline that passes, then one that does not": (
        HERE,
        timed_out,
        lambda case: {**timed_out(case), "args": ["/dev/null", "10"], "timeout_ms": 20_000},
        ("exit 0", b""),
    ),
    "a deadline that passes, then the same one": (HERE, timed_out, timed_out, ("no code", b"")),
    "a deadline with a grace, then the same one": (HERE, tidying, tidying, ("no code", b"bye\n")),
    "a missing directory, then a directory": (
        HERE,
        missing_directory,
        lambda case: {"program": "/bin/pwd", "current_dir": str(case.tmp.resolve())},
        None,
    ),
    "a missing directory, then a missing program": (
        HERE,
        missing_directory,
        lambda case: {"program": str(case.tmp / "absent")},
        FAILED,
    ),
    "stdin null, then a payload": (
        HERE,
        lambda _: {"program": "/bin/cat", "stdin": "null"},
        lambda _: {"program": "/bin/cat", "stdin": b"second"},
        ("exit 0", b"second"),
    ),
    "a payload, then stdin null": (
        HERE,
        lambda _: {"program": "/bin/cat", "stdin": b"first"},
        lambda _: {"program": "/bin/cat", "stdin": "null"},
        ("exit 0", b""),
    ),
}


def end_and_output(run: RunAnswer) -> object:
    if not run.ok:
        return (error_of(run).get("kind"), b"")
    code = run.result["exit_code"]
    # A sandbox adds a TMPDIR to the environment.
    lines = [each for each in run.stdout.splitlines(keepends=True) if each[:7] != b"TMPDIR="]
    return ("no code" if code is None else f"exit {code}", b"".join(lines))


@pytest.mark.parametrize("after_ms", [0, 40], ids=["beside", "after"])
@requires("EXEC-CONC-07", capability=HERE, overlap=1.6, needs=["EXEC-STDIN-06", "EXEC-CAP-02"])
def test_a_second_run_with_the_same_option_is_as_if_it_were_the_first(
    case: ExecCase, after_ms: int
) -> None:
    wanted: dict[str, object] = {}
    runs: list[Run] = []
    for name, (needed, first, second, end) in PAIRS.items():
        if needed in case.capabilities:
            wanted[name] = end or ("exit 0", bytes(case.tmp.resolve()) + b"\n")
            runs.append((2 * after_ms * len(runs), first(case)))
            # If a pair has a deadline, its first run lasts 150 ms.
            later = 2 * after_ms * len(runs) + (5 * after_ms if "deadline" in name else 0)
            runs.append((later, second(case)))
    seen = case.exec.batch(runs).runs
    got = {name: end_and_output(run) for name, run in zip(wanted, seen[1::2], strict=True)}
    # On a busy machine a deadline may pass before the child has set its trap.
    with for_the_prompt(case):
        expect("how the second run of each pair ended, and its output", got, wanted)


@requires("EXEC-SPAWN-09", capability=HERE)
def test_the_message_of_a_second_failure_names_its_own_cause(case: ExecCase) -> None:
    absent = str(case.tmp / "absent")
    runs: list[Run] = [missing_directory(case), (200, {"program": absent})]
    message = str(error_of(case.exec.batch(runs).runs[1]).get("message"))
    got = (f"`{absent}`" in message, "missing" in message)
    expect(
        "whether the message names the program, and the directory of another run",
        got,
        (True, False),
        {"message": message},
    )
