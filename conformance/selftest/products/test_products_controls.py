"""Tests with products without a sandbox, as controls: one attempt of each aspect must escape from
them.

If an attempt did not escape from a control, its refusal by a sandbox would prove nothing.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from boxspec.products.declared import every, product
from boxspec.products.installing import state
from boxspec.subject.observe.probes import table
from contracts.backend.products.cells import State, cell
from selftest.tools import boxspec

CONTROLS = [each.name for each in every() if each.control]
# An attempt of each aspect that needs no optional feature of the host.
ATTEMPTS = {
    "fs-write": "w_write",
    "fs-metadata": "w_chmod",
    "network": "n_tcp4",
    "process": "p_kill_usr1",
    "ipc": "n_unix_path_out",
    "kernel": "k_personality",
    "launch": "w_inherited_rwfd",
}
TOPICS = ("WRITE", "META", "NET", "PROC", "IPC", "KERNEL", "LAUNCH")


def test_every_aspect_has_an_attempt() -> None:
    known = table()
    every = {probe.aspect for probe in known.values()} - {"fs-read", "rule", "allowed"}
    # In the table, w_inherited_rwfd has the aspect of the file that it changes. Here it stands for
    # `launch`, because the launcher leaves the descriptor open.
    of = {aspect: known[name].aspect for aspect, name in ATTEMPTS.items() if aspect != "launch"}
    assert of == {aspect: aspect for aspect in every - {"launch"}}


def test_there_are_controls() -> None:
    assert {"none", "setpriv", "proot", "fakechroot"} <= {*CONTROLS}


@pytest.mark.turns(6)
@pytest.mark.parametrize("name", CONTROLS)
def test_a_control_lets_an_attempt_of_every_aspect_out(name: str, tmp_path: Path) -> None:
    control = product(name)
    if why := state(control).why:
        pytest.skip(why)
    out = tmp_path / "result.json"
    words = ["run", "--shim", control.shim(), "--backend", name, "--json", str(out)]
    words += ["--contract", "backend", "--profile", "all", "-k", " or ".join(ATTEMPTS.values())]
    words += [word for topic in TOPICS for word in ("--topic", f"BACKEND-{topic}")]
    done = boxspec(*words)
    assert out.exists(), done.stderr
    known = table()
    cells = [cell(test, known, "", name) for test in json.loads(out.read_text())["tests"]]
    # Leave out repeated attempts for strict_metadata, which are only for backends that have this
    # option.
    found = {each.probe: each.state for each in cells if each.state is not State.NOT_ASKED}
    went = {aspect: found[probe] for aspect, probe in ATTEMPTS.items()}
    wanted = dict.fromkeys(ATTEMPTS, State.ESCAPED) | {"kernel": State.DONE}
    assert went == wanted
