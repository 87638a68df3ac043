"""Tests of the orders of events that the driver forces on a real implementation."""

from __future__ import annotations

import contextlib
import json
import shlex
import time
from dataclasses import replace
from pathlib import Path

import pytest

from boxspec.cli import order_run
from boxspec.cli.main import main
from boxspec.faults.fault import catalogue, interpreter, shim_of
from boxspec.judge.failure_block import failure_block
from boxspec.judge.repro import RunFlags
from boxspec.places import ROOT
from boxspec.programs import programs
from boxspec.report.console import Console
from boxspec.subject.client.command import shim_argv
from boxspec.subject.contract import every, find
from boxspec.subject.orders import ptrace
from boxspec.subject.orders.clock import Clock
from boxspec.subject.orders.explore import (
    Order,
    Outcome,
    Ran,
    Scenario,
    Violation,
    chosen,
    outcomes,
)
from boxspec.subject.orders.task import Task
from boxspec.subject.orders.world import World
from selftest.tools import boxspec

pytestmark = [
    pytest.mark.turns(6),
    pytest.mark.skipif(ptrace.unsupported() is not None, reason="orders are forced on x86-64 only"),
]

# For each law: the fault that breaks it, and the shortest order that shows this.
CAUGHT = {
    "exec-kill.output-extends-the-grace": "talks+deadline/",
    "exec-kill.output-restarts-the-grace": "talks+deadline/",
    "exec-kill.the-end-of-a-member-restarts-the-grace": "leaving+deadline/",
    "exec-signal.second-signal-restarts-the-grace": "ignores+int-term/",
    "exec-kill.signals-the-tree": "orphan-grace/",
    "exec-orphan.drains-before-it-kills": "orphan/",
    "exec-orphan.any-end-of-the-group": "adopted-end/10=middle,11=middle,12=orphan",
    "exec-orphan.the-orphans-end-is-told": "adopted/",
    "exec-orphan.kills-helpers": "adopted-daemon/",
    "exec-orphan.passes-over-stopped-orphans": "stopped-orphan+deadline/",
    "exec-orphan.each-member-is-reported-as-a-writer": "silent-orphan+deadline/",
    "exec-timeout.looks-late": "between-ticks/",
    "exec-kill.shorter-grace": "ignoring/",
    "exec-kill.never-kills": "ignoring/",
    "exec-kill.waits-the-whole-grace": "three/",
    "exec-kill.zombies-are-alive": "zombie/",
    "exec-kill.no-sigcont": "stopped-deadline/",
    "exec-kill.no-sigcont-after-a-signal": "stopped-signal/",
    "exec-kill.a-signals-grace-ends-with-the-leader": "orphan-signal/",
    "exec-result.deadline-before-exit": "exit-deadline/15=time",
    "exec-kill.kills-only-who-was-there": "orphan-hides/10=time",
    "exec-kill.signals-leader-and-group": "ignoring/",
    "exec-kill.signals-in-the-grace-are-passed-on": "ignoring-term/18=time",
    "exec-orphan.a-killed-writer-is-not-reported": "orphan/",
    "exec-timeout.rounds-down-to-the-tick": "between-ticks/",
    "exec-timeout.a-late-cap-takes-the-place": "cap-words/",
    "exec-timeout.zero-means-none": "at-once/",
    "exec-timeout.mixes-exit-and-deadline": "exit-deadline/6=time",
    "exec-timeout.exit-0-in-the-grace-is-a-success": "clean-timeout/8=time",
    "exec-timeout.drains-can-time-out": "escapes-deadline/8=daemon",
    "exec-kill.the-signal-goes-down-the-tree": "adoptee+deadline/",
    "exec-kill.a-timeout-of-0-has-no-grace": "at-once/",
    "exec-signal.a-signal-just-before-the-spawn-is-dropped": "silent+term/3=switch,5=TERM",
    "exec-signal.a-signal-in-a-failed-spawn-is-sent-again": "missing/4=TERM",
    "exec-signal.a-run-without-a-child-keeps-the-handlers": "silent+term/1=TERM",
    "exec-signal.signals-after-sigkill-are-not-listed": "killed-term/",
    "exec-kill.one-grace-for-all-runs": "batch-deadlines/",
    "exec-kill.a-longer-grace": "ignoring/",
    "exec-kill.a-longer-grace-in-one-wait": "ignoring/",
    "exec-cap.truncated-is-the-cause-only": "cap-words/",
    "exec-cap.too-much-output-ends-the-grace": "cap-talks/",
    "exec-cap.the-cap-restarts-the-grace": "cap-talks/",
    "exec-kill.a-stopped-member-counts-as-ended": "stops-later/",
}


PYTHON_SHIM = ROOT / "conformance" / "shims" / "python" / "shim.py"
WITH_ORDERS = [each.name for each in every() if each.orders]


def run(orders: list[str], argv: list[str] | None = None, contract: str = "exec") -> list[Outcome]:
    wanted = [Order.parse(seed) for seed in orders]
    of = find(contract).load_orders()
    return list(outcomes(argv or shim_argv(None), programs.puppet, of, wanted, 1))


@pytest.mark.parametrize("contract", WITH_ORDERS)
def test_the_calm_order_of_each_scenario_conforms_and_has_one_trace(contract: str) -> None:
    seeds = [Order(each.name).seed for each in find(contract).load_orders().scenarios]
    first, second = run(seeds, contract=contract), run(seeds, contract=contract)
    for one, two in zip(first, second, strict=True):
        assert (one.order.seed, one.violations, one.not_forced) == (one.order.seed, [], "")
        assert one.trace == two.trace


def test_orders_with_a_choice_conform_and_have_one_trace() -> None:
    calm = run(["orphan-forks/", "deadline-term/"])
    orders = chosen([each for one in calm for each in one.next], 20, seed=1)
    seeds = [each.seed for each in orders]
    assert len(set(seeds)) == 20
    first, second = run(seeds), run(seeds)
    assert [each.trace for each in first] == [each.trace for each in second]
    assert not any(each.violations or each.missed for each in first)


def test_a_signal_after_the_end_of_a_module_needs_no_grace() -> None:
    """The group is killed because of the exit; the later signal names the outcome."""
    (ran,) = run(["orphan-term/23=TERM"], contract="module")
    assert (ran.violations, ran.missed) == ([], [])


def test_a_delay_of_the_caller_after_the_spawn_does_not_postpone_the_deadline() -> None:
    (ran,) = run(["escapes-deadline/0=time,8=time"])
    assert ran.violations == []


def test_a_parent_goes_on_if_its_new_child_has_been_killed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone = 2**22 + 1  # above every possible process number
    world = object.__new__(World)
    world.clock, world.tasks = Clock(), {}
    world.notes, world.batch = [], 0
    world.begun = world.has_child = False
    world.reaped, world.strangers = {gone}, {gone}
    parent = Task(1, 1, "puppet")
    resumed: list[int] = []

    def go(task: Task, _signo: int = 0) -> None:
        if task is not parent:
            raise ProcessLookupError
        resumed.append(task.tid)

    monkeypatch.setattr(ptrace, "event_message", lambda _tid: gone)
    monkeypatch.setattr(world, "_go", go)
    with contextlib.suppress(ProcessLookupError):
        world._forked(parent, ptrace.EVENT_FORK)
    assert (resumed, world.tasks[gone].state) == ([1], "dead")


def test_five_seconds_of_grace_take_no_time() -> None:
    began = time.monotonic()
    (ran,) = run(["ignoring/"])
    assert time.monotonic() - began < 5
    assert any(line.startswith("  6,000 ms  child: is killed by SIGKILL") for line in ran.trace)


def test_threads_change_where_an_order_says_so() -> None:
    seeds = ["close-killed/7=switch", "close-two/8=switch"]
    first, second = run(seeds, contract="process"), run(seeds, contract="process")
    assert [each.trace for each in first] == [each.trace for each in second]
    for each in first:
        assert (each.violations, each.missed) == ([], [])
        assert any("event: implementation, thread 2 goes on" in line for line in each.trace)


def test_a_member_that_forks_and_ends_during_a_look_hides_no_child() -> None:
    looks = [f"orphan-hides/6=time,{at}=orphan,{at + 1}=orphan" for at in range(15, 19)]
    for each in run(looks):
        assert (each.violations, each.missed) == ([], []), each.order.seed


@pytest.mark.parametrize("seed", ["orphan-code/8=orphan", "orphan-quiet/6=child,11=orphan"])
def test_a_writer_that_ends_before_the_signal_may_count_as_killed(seed: str) -> None:
    (ran,) = run([seed])
    assert (ran.violations, ran.missed) == ([], [])


def _tells_lack(_scenario: Scenario, ran: Ran) -> list[Violation]:
    notes = [note.kind for note in ran.notes]
    return [Violation(kind, "", "", "") for kind in ("begins", "answers") if kind not in notes]


@pytest.mark.parametrize("shim", [None, shlex.join([interpreter(), "-I", "-S", str(PYTHON_SHIM)])])
def test_the_beginning_and_the_answer_of_a_run_are_noted(shim: str | None) -> None:
    """Without the answer, no duration and no late return would be judged."""
    of = replace(find("exec").load_orders(), judge=_tells_lack)
    (ran,) = outcomes(shim_argv(shim), programs.puppet, of, [Order("exit")], 1)
    assert ran.violations == []


def test_a_signal_at_the_end_of_one_of_two_runs_is_listed_in_its_result() -> None:
    """The handler of the signal runs while the run ends on another thread."""
    (ran,) = run(["batch-exit-term/35=TERM,40=switch"])
    assert (ran.violations, ran.missed) == ([], [])


@pytest.mark.parametrize("name", ["missing", "missing-int", "no-program", "batch-missing"])
def test_a_signal_at_any_point_of_a_failed_spawn_conforms(name: str) -> None:
    (calm,) = run([f"{name}/"])
    ran = run([each.seed for each in calm.next if each.choices[0][1] in ("INT", "TERM")])
    assert [each.violations for each in ran if each.violations] == []


def test_a_choice_that_is_not_possible_is_reported() -> None:
    (ran,) = run(["exit/3=TERM"])
    assert ran.missed == ["3=TERM"]


def test_a_shim_that_does_not_answer_breaks_a_law(tmp_path: Path) -> None:
    shim = tmp_path / "shim"
    shim.write_text("#!/bin/sh\ncat < $2 > /dev/null\n")
    shim.chmod(0o755)
    (ran,) = run(["exit/"], [str(shim)])
    assert [each.law for each in ran.violations] == ["it answers"]


def test_a_shim_that_opens_its_answer_before_the_run_is_not_blamed(tmp_path: Path) -> None:
    """The template of a shim does this. It also runs Python's own handler of SIGINT, which kills
    the child and ends the shim, and its result has no `termination`."""
    assert main(["new-shim", "python", str(tmp_path / "mine")]) == 0
    orders = ["exit/", "exit-deadline/", "deadline-int/", "deadline-term/"]
    ran = run(orders, [str(tmp_path / "mine" / "shim.py")])
    broken = [[violation.requirement for violation in each.violations] for each in ran]
    # Without a handler the signal ends the shim. After a SIGINT Python waits 250 ms for the child,
    # and kills it without another signal.
    assert broken == [
        [],
        [],
        ["EXEC-SIGNAL-02", "EXEC-KILL-02"],
        ["EXEC-SIGNAL-08", "EXEC-KILL-13"],
    ]


@pytest.mark.parametrize(("fault", "seed"), CAUGHT.items())
def test_a_fault_of_an_order_is_found(fault: str, seed: str) -> None:
    (found,) = [each for each in catalogue() if each.id == fault]
    (ran,) = run([seed], shlex.split(shim_of(found)))
    assert ran.violations


def test_a_signal_that_takes_no_lock_reaches_a_number_that_was_given_back() -> None:
    (found,) = [each for each in catalogue() if each.id == "process-kill.a-signal-takes-no-lock"]
    (ran,) = run(["kill-two-waits/"], shlex.split(shim_of(found)), "process")
    assert [each.requirement for each in ran.violations] == ["PROCESS-KILL-04"]


@pytest.mark.turns(6)
def test_a_run_with_orders_has_a_failure_block_that_repeats_the_order(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (found,) = [each for each in catalogue() if each.id == "exec-kill.shorter-grace"]
    calm = len(find("exec").load_orders().scenarios)
    monkeypatch.setattr(order_run, "ORDERS", calm)
    records = order_run.judge_orders(["exec", "policy"], shim_of(found), Console())
    assert f"{calm} of {calm} forced" in capsys.readouterr().out
    block = failure_block(records[0], RunFlags(shim_of(found)))
    assert "EXEC-KILL-02 (MUST, contract): " in block
    assert "event: 1,000 ms pass" in block
    words = shlex.split(block.partition("repro     ")[2].partition("\n")[0])
    assert main(words[1:]) == 1
    assert "law       the grace period is not shortened" in capsys.readouterr().out


@pytest.mark.turns(6)
def test_a_topic_leaves_out_the_laws_of_other_topics(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (found,) = [each for each in catalogue() if each.id == "exec-kill.shorter-grace"]
    monkeypatch.setattr(order_run, "ORDERS", len(find("exec").load_orders().scenarios))
    assert order_run.judge_orders(["exec"], shim_of(found), Console(), {"EXEC-SIGNAL-09"}) == []
    assert "0 break a law" in capsys.readouterr().out


@pytest.mark.turns(6)
def test_a_selection_of_tests_leaves_out_no_order(tmp_path: Path) -> None:
    (found,) = [each for each in catalogue() if each.id == "exec-kill.shorter-grace"]
    result = tmp_path / "result.json"
    words = ["--contract", "exec", "-k", "exit_code_is_reported", "--json", str(result)]
    done = boxspec("run", "--orders", "--shim", shim_of(found), *words)
    assert done.returncode == 1, done.stdout + done.stderr
    repeat = [line for line in done.stdout.splitlines() if line.startswith("     repeat ")]
    assert any(line.endswith(" --order exec/ignoring/") for line in repeat)
    tests = json.loads(result.read_text())["tests"]
    assert any(each["repro"].endswith(" --order exec/ignoring/") for each in tests)
