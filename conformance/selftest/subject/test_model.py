"""Tests of the models of contracts: their lists of bounds and mistakes, and the checks by spin.

All checks together are the stage ci/test model.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from boxspec.cli.dev import model_orders
from boxspec.cli.main import main
from boxspec.faults.fault import catalogue, shim_of
from boxspec.places import CONTRACTS
from boxspec.programs import programs
from boxspec.subject.client.command import shim_argv
from boxspec.subject.contract import find
from boxspec.subject.orders import ptrace
from boxspec.subject.orders.explore import Order, outcomes
from boxspec.subject.orders.model import Model, check, load, models
from boxspec.subject.orders.replay import Replayer

needs_spin = pytest.mark.skipif(not shutil.which("spin"), reason="spin is not installed")
EVERY = models()


@pytest.mark.parametrize("model", EVERY, ids=[each.contract for each in EVERY])
def test_each_law_of_a_model_has_a_mistake(model: Model) -> None:
    text = model.path.read_text()
    stated = {
        law
        for path in (model.path, model.path.parents[1] / "shared" / "group.pml")
        for law in re.findall(r"LAW\((\w+),", path.read_text())
    } - {"name"}
    assert model.bounds
    assert stated <= {each.law for each in model.mistakes}
    shared = (model.path.parents[1] / "shared" / "group.pml").read_text()
    for each in model.mistakes:
        assert each.bounds in model.bounds
        assert re.search(rf"MISTAKE (=|!)= {each.name}\b", text + shared), each.name


@needs_spin
def test_the_counterexample_of_a_mistake_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["dev", "model", "--contract", "exec", "--mistake", "HANDLERS_STAY"]) == 0
    assert "broken law: handlers_are_restored" in capsys.readouterr().out


@needs_spin
def test_a_supervisor_that_cannot_go_on_breaks_the_law_returns(tmp_path: Path) -> None:
    path = tmp_path / "model.pml"
    path.write_text("/*\n * BOUNDS all N=1\n */\nactive proctype supervisor() { N == 2 }\n")
    found = check(load(path), "all")
    assert (found.law, found.events) == ("returns", [])


@needs_spin
@pytest.mark.skipif(ptrace.unsupported() is not None, reason="orders are forced on x86-64 only")
def test_an_order_of_the_reference_agrees_with_the_model_and_a_wrong_one_does_not(
    tmp_path: Path,
) -> None:
    of = find("exec").load_orders()
    orders = [Order.parse("orphan-term/14=TERM")]
    (ran,) = outcomes(shim_argv(None), programs.puppet, of, orders, 1)
    (replay,) = ran.replays
    replayer = Replayer(load(CONTRACTS / "exec" / "model.pml"), tmp_path)
    events = replay.events
    assert replayer.agreed(replay) == len(events)
    kill, collect = events.index(("KILL", 0)), events.index(("COLLECT", 0))
    wrong = [*events[:kill], ("COLLECT", 0), *events[kill:collect], *events[collect + 1 :]]
    assert replayer.agreed(replace(replay, events=wrong)) == kill


# Faults, each with an order that the model cannot make. The two faults of PROCESS-KILL break no law
# of order_laws.py in these orders.
FAULTS = {
    "process-close.no-grace": "close-ignored/",
    "process-close.the-leaders-grace": "orphan-grace/",
    "process-kill.terminate-is-kill": "terminate-ignored/",
    "process-kill.terminate-makes-sure": "terminate-ignored/",
    "process-drop.runs-on": "drop/",
    "process-drop.is-not-reaped": "drop/",
    "process-group.the-rest-is-for-waits-without-limit": "orphan-limit/",
    "process-wait.a-stop-is-an-end": "stopped/",
}


# Orders of several runs at once. Each run is compared by itself.
EXEC_FAULTS = {
    "exec-conc.one-run-gets-the-signal": "batch-int-term/",
    "exec-signal.sigterm-is-sigkill": "batch-exit-term/",
    "exec-kill.shorter-grace": "batch-deadlines/",
}
MODULE_FAULTS = {
    "module-time.kills-at-once": "limit-ignored/",
    "module-time.two-seconds-of-grace": "limit-ignored/",
    "module-time.a-margin": "limit/",
    "module-time.kills-the-module-alone": "orphan-limit/",
    "module-exit.the-rest-lives-on": "orphan/",
    "module-exit.a-stop-is-a-death": "stopped/",
    "module-parent.a-signal-is-a-death": "term-ignored/",
}


@needs_spin
@pytest.mark.skipif(ptrace.unsupported() is not None, reason="orders are forced on x86-64 only")
@pytest.mark.parametrize(
    ("contract", "faults", "more"),
    [
        ("exec", EXEC_FAULTS, {"batch-orphans/", "batch-missing/", "batch-exits/"}),
        ("process", FAULTS, {"close-two/", "drop-waits/", "kill-two-waits/"}),
        ("module", MODULE_FAULTS, {"int-term/", "input-left/", "value/10=time"}),
    ],
    ids=["exec", "process", "module"],
)
def test_a_model_makes_the_orders_of_the_reference_and_not_those_of_faults(
    tmp_path: Path, contract: str, faults: dict[str, str], more: set[str]
) -> None:
    of = find(contract).load_orders()
    (model,) = [each for each in EVERY if each.contract == (of.model or contract)]
    replayer = Replayer(model, tmp_path)

    def agrees(shim: str | None, seed: str) -> bool:
        (ran,) = outcomes(shim_argv(shim), programs.puppet, of, [Order.parse(seed)], 1)
        assert ran.replays, ran.not_comparable
        return all(replayer.agreed(each) == len(each.events) for each in ran.replays)

    assert [seed for seed in sorted({*faults.values(), *more}) if not agrees(None, seed)] == []
    shims = {each.id: shim_of(each) for each in catalogue()}
    assert [name for name, seed in faults.items() if agrees(shims[name], seed)] == []


@needs_spin
@pytest.mark.skipif(ptrace.unsupported() is not None, reason="orders are forced on x86-64 only")
def test_each_process_of_a_script_is_compared_by_itself(tmp_path: Path) -> None:
    of = find("process").load_orders()
    replayer = Replayer(load(CONTRACTS / "process" / "model.pml"), tmp_path)
    (found,) = [each for each in catalogue() if each.id == "process-close.no-grace"]

    def disagree(shim: str | None, seed: str) -> list[bool]:
        (ran,) = outcomes(shim_argv(shim), programs.puppet, of, [Order.parse(seed)], 1)
        return [replayer.agreed(each) < len(each.events) for each in ran.replays]

    assert disagree(None, "two-close/") == disagree(None, "again/") == [False, False]
    assert disagree(shim_of(found), "two-close/") == [True, True]


@needs_spin
@pytest.mark.skipif(ptrace.unsupported() is not None, reason="orders are forced on x86-64 only")
def test_an_order_that_the_model_cannot_make_is_a_failure_block(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (shim,) = [shim_of(each) for each in catalogue() if each.id == "process-kill.terminate-is-kill"]
    of = find("process").load_orders()
    few = replace(of, scenarios=[of.scenario("terminate-ignored")])
    monkeypatch.setattr(type(find("process")), "load_orders", lambda _: few)
    assert model_orders.compare(EVERY, "process", 1, 1, shim) == 1
    told = capsys.readouterr().out
    assert "actual    SIGKILL is sent to the group" in told
    assert "--order process/terminate-ignored/" in told


def test_an_unknown_mistake_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dev", "model", "--mistake", "NONE"]) == 2
    assert "is not a mistake of a model" in capsys.readouterr().err
