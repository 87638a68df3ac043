"""MODULE-OFF: modules that are not executed in a child."""

from __future__ import annotations

import pytest

from boxspec.api import expect, requires
from contracts.module.client import ModuleCase
from contracts.module.judging import end, quoted, runs_here


@requires("MODULE-OFF-01")
def test_without_a_child_nothing_is_started(case: ModuleCase) -> None:
    mark = case.tmp / "mark"
    body = f": >{quoted(mark)}; echo 1"
    runs_here(case, body)
    expect("whether the control module ran", mark.exists(), True, verdict="unproven")
    mark.unlink()
    seen = case.module.execute("control", enabled=False)
    got = (end(seen), mark.exists())
    expect("outcome of the module, and whether the module ran", got, ("NotWired", False))


@requires("MODULE-OFF-01")
@pytest.mark.parametrize("name", ["missing", "../control"])
def test_without_a_child_no_module_is_looked_up(case: ModuleCase, name: str) -> None:
    case.module.script("control", "echo 1")
    seen = case.module.execute(name, enabled=False)
    expect("outcome of the module", end(seen), "NotWired")


@requires("MODULE-OFF-01")
def test_without_a_child_serve_reports_not_wired(case: ModuleCase) -> None:
    root = str(case.module.script("there", "echo 1").parent)
    fields = {"module_id": "there", "input": 1, "enabled": False, "extensions_root": root}
    answer = case.put({"op": "module.execute", **fields})
    expect("class of the error", answer.result.get("error", {}).get("class"), "NotWired")
