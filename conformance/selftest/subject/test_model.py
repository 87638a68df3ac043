"""Models of contracts: their lists of bounds and mistakes, and the checks by spin.

All checks together are the stage ci/test model.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from boxspec.cli.main import main
from boxspec.subject.orders.model import Model, check, load, models

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


def test_an_unknown_mistake_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dev", "model", "--mistake", "NONE"]) == 2
    assert "is no mistake of a model" in capsys.readouterr().err
