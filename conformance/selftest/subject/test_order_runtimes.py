"""Forced orders of shims in other languages: an order has one trace, in each process."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from boxspec.places import ROOT
from boxspec.programs import programs
from boxspec.subject.client.command import shim_argv
from boxspec.subject.contract import find
from boxspec.subject.orders import ptrace
from boxspec.subject.orders.clock import MANY_READS, Clock
from boxspec.subject.orders.explore import Order, Outcome, Ran, Scenario, outcomes
from boxspec.subject.orders.task import Task
from boxspec.subject.orders.world import World
from contracts.shared.order_facts import Cause, Facts, comes_first, text_of
from selftest.tools import run

pytestmark = pytest.mark.skipif(
    ptrace.unsupported() is not None, reason="orders are forced on x86-64 only"
)
UNUSUAL = ROOT / "conformance" / "shims" / "unusual"
# It has no handlers of signals, and only the capability exec.
TEMPLATE = ROOT / "conformance" / "shims" / "templates" / "exec" / "node" / "shim.mjs"


def repeated(shim: str, seed: str, times: int) -> list[Outcome]:
    """Run an order several times, each time in a process of its own."""
    of = find("exec").load_orders()
    return list(outcomes(shim_argv(shim), programs.puppet, of, [Order.parse(seed)] * times, 2))


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not on this machine")
def test_a_managed_runtime_has_one_trace_for_an_order() -> None:
    found = repeated(str(UNUSUAL / "node_shim.mjs"), "ignoring/", 6)
    assert len({each.digest for each in found}) == 1, found[0].trace
    # In an order, time passes only with events, however often the runtime reads the clock.
    assert any("1,000 ms" in line and "SIGTERM" in line for line in found[0].trace)


@pytest.mark.skipif(shutil.which("go") is None, reason="Go is not on this machine")
def test_a_runtime_with_threads_that_end_late_has_one_trace_for_an_order(tmp_path: Path) -> None:
    program = tmp_path / "go-shim"
    static = {"CGO_ENABLED": "0", "GOFLAGS": "", "GOTOOLCHAIN": "local"}
    done = run(["go", "build", "-o", program, UNUSUAL / "go_shim.go"], env=static)
    assert done.returncode == 0, done.stderr
    found = repeated(str(program), "exit-term/", 6)
    assert len({each.digest for each in found}) == 1, found[0].trace
    # The runtime installs its handlers before the run, and the signal arrives all the same.
    (ended,) = repeated(str(program), "silent+term/", 1)
    assert any("receives SIGTERM" in line for line in ended.trace)
    assert "EXEC-WAIT-01" not in {each.requirement for each in ended.violations}


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not on this machine")
def test_a_signal_reaches_an_implementation_without_handlers_once_a_child_runs() -> None:
    (found,) = repeated(str(TEMPLATE), "silent+term/", 1)
    broken = {each.requirement: each for each in found.violations}
    assert "still running: child" in broken["EXEC-SIGNAL-08"].actual, found.trace
    assert "EXEC-WAIT-01" not in broken


NAIVE = """\
#!/usr/bin/env bash
# It does not restore its handlers, and does not wait for a child that a signal asks to end.
asked=$(cat "$2")
mapfile -t argv < <(jq -r ".request.program, .request.args[]" <<<"$asked")
limit=$(jq -r ".request.timeout_ms // 9999999" <<<"$asked")
"${argv[@]}" </dev/null >/dev/null 2>&1 &
child=$!
(sleep "$(jq -n "$limit/1000")"; kill -TERM $child) >/dev/null 2>&1 &
timer=$!
trap "kill -TERM $child" INT TERM
wait $child
kill $timer
printf '{"id": "1", "result": {"success": false, "stdout": "", "stderr": "", "exit_code": null, \
"duration_ms": 1, "output": null}}' >"$3"
"""


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not on this machine")
def test_a_naive_shim_is_accused_of_its_own_mistakes_only(tmp_path: Path) -> None:
    """A shell changes its handler of SIGINT often, and this shim does not report that a deadline
    has passed."""
    shim = tmp_path / "naive"
    shim.write_text(NAIVE)
    shim.chmod(0o755)
    for order in ("int-term/", "clean-timeout/"):
        (found,) = repeated(str(shim), order, 1)
        broken = {each.requirement for each in found.violations}
        assert "EXEC-SIGNAL-09" in broken, found.violations
        assert broken.isdisjoint({"EXEC-TIMEOUT-02", "EXEC-RESULT-01"}), found.violations


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not on this machine")
def test_a_request_that_the_shim_does_not_support_is_not_judged() -> None:
    (found,) = repeated(str(TEMPLATE), "cap/", 1)
    assert (found.violations, "does not support" in found.not_forced) == ([], True)


def test_a_thread_that_waits_for_an_interpreters_lock_does_not_hold_up_the_others() -> None:
    python = str(ROOT / "conformance" / "shims" / "python" / "shim.py")
    (found,) = repeated(python, "batch-int-term/13=switch", 1)
    assert (found.violations, found.missed) == ([], []), found.trace


@pytest.mark.parametrize(
    ("first", "second", "certain"),
    [
        (("parent_signal 2", 1), ("parent_signal 15", 2), True),
        (("parent_signal 2", 1), ("parent_signal 15", 1), False),
        # The kernel reports the lower number first, even if both signals are pending.
        (("parent_signal 15", 1), ("parent_signal 2", 2), False),
    ],
)
def test_the_first_of_two_signals_is_certain_if_steps_lie_between_them(
    first: tuple[str, int], second: tuple[str, int], certain: bool
) -> None:
    causes = [Cause(name, step=batch, at=0, batch=batch) for name, batch in (first, second)]
    ran = Ran(Order("none"), [], [], None, [], None, None, [], [])
    assert comes_first(Facts(Scenario("none", []), ran), *causes) == certain


def test_a_thread_that_was_killed_at_its_stop_is_left_to_its_end() -> None:
    world = object.__new__(World)
    gone = Task(2**22 + 1, 2**22 + 1, "shim", state="exit")  # above every possible number
    world.resume(gone)
    assert gone.state == "runs"


def test_time_passes_for_a_loop_that_reads_the_clock_but_not_before_a_child() -> None:
    clock, regs = Clock(), ptrace.Regs()
    for _ in range(2 * MANY_READS):
        clock.read(regs, has_child=False)
    assert clock.now == 0
    for _ in range(MANY_READS + 1):
        clock.read(regs, has_child=True)
    assert clock.now == 2_000_000


def test_output_that_was_sent_as_bytes_is_judged_too() -> None:
    assert text_of({"stderr_b64": "YQo="}, "stderr") == "a\n"
    assert text_of({"stderr": "b"}, "stderr") == "b"
