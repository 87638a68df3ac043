"""EXEC-TIMEOUT: the result of a run past its deadline, and the time at which the deadline fires."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from boxspec.api import (
    NotMeasured,
    endswith,
    expect,
    expect_no_longer,
    expect_within,
    for_the_prompt,
    one_of,
    requires,
)
from boxspec.api import programs as P
from contracts.exec.answers import ObservedRun
from contracts.exec.client import ExecCase
from contracts.exec.host import slow_to_execute
from contracts.exec.moments import (
    FOREVER_MS,
    TIMED_OUT,
    annotated,
    elapsed_ms,
    expect_never_early,
    pass_time,
    settled,
)
from contracts.exec.spawn_io import (
    SPAWN_FAILURE,
    STDERR_SIZES,
    digest,
    outcome,
    stream,
    writes_zeros,
)
from contracts.shared.files import program_at
from contracts.shared.long_times import LARGEST, WRAPS


def wait_for_deadline(case: ExecCase, timeout_ms: int) -> ObservedRun:
    """Run a child that has no other group members and that SIGTERM ends at once."""
    return case.exec.run(
        program=P.slow_exit,
        args=[case.events().path, FOREVER_MS],
        timeout_ms=timeout_ms,
        within_s=20,
    )


@requires("EXEC-TIMEOUT-01", pitfalls=["G1"])
def test_a_deadline_ends_a_run_without_code_and_without_success(case: ExecCase) -> None:
    result = wait_for_deadline(case, 200).result
    expect("success and exit_code", (result["success"], result["exit_code"]), (False, None))


@requires("EXEC-TIMEOUT-01", pitfalls=["G1"])
def test_stderr_ends_with_the_annotation_of_the_deadline(case: ExecCase) -> None:
    expect("stderr after a deadline", wait_for_deadline(case, 200).stderr, endswith(TIMED_OUT))


@pytest.mark.parametrize("timeout_ms", [1, 49, 99, 101, 149, 150, 250, 399, 1990])
@requires("EXEC-TIMEOUT-02", pitfalls=["G11"], overlap=0.5, timing=True)
def test_a_deadline_never_fires_early(case: ExecCase, timeout_ms: int) -> None:
    with case.exec.start(
        program=P.slow_exit,
        args=["/dev/null", FOREVER_MS],
        timeout_ms=timeout_ms,
        within_s=20,
        old_request=True,
    ) as shim:
        seen = shim.finish()
    # The deadline cannot begin before the shim has read the request.
    what = "from the reading of the request to the end of the run, in ms"
    elapsed = elapsed_ms(shim.request_read_ns(), seen.end.t_ns)
    expect_never_early(case, what, elapsed, timeout_ms)


@pytest.mark.parametrize("timeout_ms", [150, 330, 499])
@requires("EXEC-TIMEOUT-02", pitfalls=["G11"], overlap=0.7, timing=True, needs=["EXEC-KILL-01"])
def test_the_childs_sigterm_comes_no_earlier_than_its_deadline(
    case: ExecCase, timeout_ms: int
) -> None:
    events = case.events()
    with case.exec.start(
        program=P.siglog,
        args=[events.path, "--on", "TERM:exit:0"],
        timeout_ms=timeout_ms,
        old_request=True,
    ) as shim:
        shim.finish()
    settled(case.events())
    # The child's log entry can be late but not early. So it never hides a signal that was sent too
    # early.
    what = "from the reading of the request to the child's SIGTERM, in ms"
    elapsed = elapsed_ms(shim.request_read_ns(), events.wait("signal").t_ns)
    expect_never_early(case, what, elapsed, timeout_ms)


@pytest.mark.parametrize("timeout_ms", [50, 180, 310])
@requires("EXEC-TIMEOUT-03", pitfalls=["G1"], overlap=0.7, timing=True, needs=["EXEC-KILL-01"])
def test_a_deadline_is_noticed_within_a_tick(case: ExecCase, timeout_ms: int) -> None:
    events = case.events()
    with case.exec.start(
        program=P.siglog, args=[events.path, "--on", "TERM:exit:0"], timeout_ms=timeout_ms
    ) as shim:
        shim.finish()
    ready = settled(case.events()).effect
    signalled = events.wait("signal").effect
    limit_ms = timeout_ms + case.tick_ms
    expect_within(case, "from the child's start to its SIGTERM", ready, signalled, limit_ms)


@requires("EXEC-TIMEOUT-04", pitfalls=["G9"], overlap=0.3, timing=True)
def test_timeout_zero_is_expired_at_once(case: ExecCase) -> None:
    # A run whose child ends by itself shows how much time the shim needs for the rest.
    control = case.exec.run(program=P.exit_with, args=["0"])
    seen = wait_for_deadline(case, 0)
    result = seen.result
    expect("success and exit_code", (result["success"], result["exit_code"]), (False, None))
    what = "how much longer the shim lives than in a run that ends by itself"
    expect_no_longer(case, what, seen, control, 2 * case.tick_ms)


@requires("EXEC-TIMEOUT-04")
def test_with_timeout_zero_a_child_that_is_already_gone_may_report_its_exit(case: ExecCase) -> None:
    seen = case.exec.run(program=P.exit_with, args=["7"], timeout_ms=0)
    expect(
        "success, exit_code and whether stderr is annotated",
        (seen.result["success"], seen.result["exit_code"], annotated(seen.stderr)),
        one_of((False, 7, False), (False, None, True)),
    )


@requires("EXEC-TIMEOUT-04")
def test_with_timeout_zero_a_program_that_is_not_there_is_a_spawn_failure(case: ExecCase) -> None:
    # A run without a child has no deadline.
    seen = case.exec.run(program=str(case.tmp / "absent"), timeout_ms=0)
    expect("the outcome", outcome(seen), SPAWN_FAILURE)


LARGE = {
    **WRAPS,
    "2^53": 2**53,
    "2^63 - 1": 2**63 - 1,
    "2^63": 2**63,
    "nanoseconds in 63 bits": LARGEST // 10**6,
    "microseconds in 64 bits": LARGEST // 1000 + 1,
    "2^64 - 1": LARGEST,
}


@pytest.mark.parametrize("timeout_ms", LARGE.values(), ids=[*LARGE])
@requires("EXEC-TIMEOUT-05", overlap=0.3)
def test_a_large_timeout_does_not_expire_early(case: ExecCase, timeout_ms: int) -> None:
    largest = int(case.hello.get("limits", {}).get("max_integer", LARGEST))
    seen = case.exec.run(
        program=P.slow_exit,
        args=[case.events().path, "160"],
        timeout_ms=min(timeout_ms, largest),
        within_s=10,
    )
    expect(
        "success, exit_code and stderr of a child that ends long before",
        (seen.result["success"], seen.result["exit_code"], seen.stderr),
        (True, 0, b""),
    )


@requires("EXEC-TIMEOUT-06", overlap=0.6)
def test_a_child_that_exits_0_on_the_deadlines_sigterm_is_timed_out(case: ExecCase) -> None:
    events = case.events()
    seen = case.exec.run(
        program=P.siglog,
        args=[events.path, "--on", "TERM:exit:0"],
        timeout_ms=400,
        within_s=20,
    )
    settled(case.events())
    expect(
        "success and exit_code of a child that exits 0 on SIGTERM",
        (seen.result["success"], seen.result["exit_code"]),
        (False, None),
        evidence={"events": [str(event) for event in events.all()]},
    )


def outcome_name(seen: ObservedRun) -> str:
    """Return the name of the outcome, or the fields that contradict each other."""
    result = seen.result
    got = (result["success"], result["exit_code"], seen.stderr.endswith(TIMED_OUT))
    names = {(True, 0, False): "exit", (False, None, True): "deadline"}
    name = names.get(got, f"mixture {got}")
    return name if not seen.lasting else f"{name} with survivors"


@pytest.mark.parametrize("deadline_ms", [20, 60])
@requires("EXEC-TIMEOUT-07", pitfalls=["G14"], overlap=3.0, stress=20)
def test_an_exit_at_the_deadline_is_an_exit_or_a_timeout(case: ExecCase, deadline_ms: int) -> None:
    luck = random.Random(case.session.seed)
    outcomes: Counter[str] = Counter()
    for _ in range(20):
        life_ms = deadline_ms + luck.randint(-4, 3)
        outcomes[
            outcome_name(
                case.exec.run(
                    program=P.slow_exit,
                    args=["/dev/null", str(life_ms)],
                    timeout_ms=deadline_ms,
                )
            )
        ] += 1
    expect(
        "outcomes that are neither an exit nor a timeout",
        sorted(set(outcomes) - {"exit", "deadline"}),
        [],
        evidence=dict(outcomes),
    )


STDERR = [b"x", b"two\nlines\n", "Zürich €".encode(), b"cut \xe2\x82"]
NAMES = ["text", "newline", "utf8", "cut_utf8"]


def timed_out_stderr(case: ExecCase, text: bytes) -> bytes:
    seen = case.exec.run(
        program=P.siglog,
        args=[case.events().path, "--err", text, "--on", "TERM:exit:0"],
        timeout_ms=400,
        within_s=20,
    )
    # The child writes before it logs `ready`.
    settled(case.events())
    return seen.stderr


def lossy(text: bytes) -> bytes:
    return text.decode("utf-8", "replace").encode()


@pytest.mark.parametrize("text", STDERR[:3], ids=NAMES[:3])
@requires("EXEC-TIMEOUT-08", pitfalls=["G19"], overlap=0.6)
def test_the_childs_stderr_comes_before_the_annotation(case: ExecCase, text: bytes) -> None:
    expect(
        "stderr of a child that wrote before its deadline",
        timed_out_stderr(case, text),
        one_of(text + TIMED_OUT, text + b"\n" + TIMED_OUT),
    )


@pytest.mark.parametrize("size", STDERR_SIZES)
@requires("EXEC-TIMEOUT-01", overlap=1.6)
def test_a_stderr_of_each_size_ends_in_the_annotation(case: ExecCase, size: int) -> None:
    events = case.events()
    seen = case.exec.run(**writes_zeros(size, events.path), timeout_ms=1500, within_s=20)
    settled(events)
    joined = (digest(bytes(size) + end + TIMED_OUT) for end in (b"\n", b""))
    expect("length and digest of stderr", stream(seen, "stderr"), one_of(*joined))


@pytest.mark.parametrize("text", STDERR, ids=NAMES)
@requires("EXEC-TIMEOUT-09", pitfalls=["G19"], overlap=0.6, needs=["EXEC-TEXT-01"])
def test_the_annotation_is_joined_by_exactly_one_newline(case: ExecCase, text: bytes) -> None:
    expect(
        "stderr of a child that wrote before its deadline",
        timed_out_stderr(case, text),
        lossy(text) + b"\n" + TIMED_OUT,
    )


@requires("EXEC-TIMEOUT-09", pitfalls=["G19"])
def test_an_empty_stderr_becomes_only_the_annotation(case: ExecCase) -> None:
    expect("stderr of a silent child", wait_for_deadline(case, 200).stderr, TIMED_OUT)


@requires("EXEC-TIMEOUT-11", pitfalls=["G22"], overlap=1.5, timing=True)
def test_a_program_that_is_slow_to_execute_has_no_later_deadline(case: ExecCase) -> None:
    # The deadline passes before the program is executed. If the deadline counted from the
    # execution, the child would end before it.
    program = program_at(case.tmp / "program", P.slow_exit)
    with (
        slow_to_execute(program) as slow,
        case.exec.start(
            program=str(program), args=["/dev/null", "1000"], timeout_ms=1200, within_s=20
        ) as shim,
    ):
        slow.await_execution()
        if not shim.tree():
            raise NotMeasured("the shim opens the program before it has a child")
        pass_time(1300)
        slow.execute()
        seen = shim.finish()
    # If the shim had to wait for a processor, it may notice the exit and the deadline at once.
    with for_the_prompt(case):
        expect(
            "the outcome of a child of 1,000 ms that is executed 1,300 ms after the start of its "
            "spawn and has a timeout of 1,200 ms",
            outcome_name(seen),
            "deadline",
        )
