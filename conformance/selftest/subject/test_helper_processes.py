"""Tests of the helper processes of a contract's runs: each run observes them, and waits take them
into account."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from boxspec.subject.case import Case
from boxspec.subject.observe.helper_processes import HelperProcesses
from boxspec.subject.session import Session
from boxspec.subject.trust import trust
from contracts.module.client import ModuleClient
from contracts.process.client import ProcessClient
from selftest.tools import REFERENCE

ALONE, HELPED, THREADS = HelperProcesses(), HelperProcesses(before=True), HelperProcesses(threads=3)


@pytest.mark.parametrize(
    ("found", "op", "helpers"),
    [
        ({}, "module.execute", ALONE),
        ({"exec": ALONE, "module": HELPED}, "module.execute", HELPED),
        ({"exec": ALONE, "module": HELPED}, "exec.batch", ALONE),
        # No run of `backend` was observed, so it may have the helper processes of every other
        # contract.
        ({"exec": THREADS, "module": HELPED}, "backend.run", HelperProcesses(3, before=True)),
        ({"exec": HELPED}, "?", HELPED),
    ],
)
def test_each_contract_has_its_own_helper_processes(
    found: dict[str, HelperProcesses], op: str, helpers: HelperProcesses
) -> None:
    session = cast(Session, SimpleNamespace(helpers=found))
    assert Session.helpers_of(session, op) == helpers


@pytest.mark.parametrize("contract", ["backend", "exec", "module", "process"])
def test_a_helper_in_front_of_the_child_is_seen_in_each_contract(
    contract: str, tmp_path: Path
) -> None:
    shim = tmp_path / "shim"
    shim.write_text(f'#!/bin/sh\n/bin/sleep 0.2\nexec {REFERENCE} "$@"\n')
    shim.chmod(0o755)
    session = Session((str(shim),))
    try:
        trust(session, contracts=[contract])
        assert session.helpers[contract].before
        assert set(session.helpers) == {contract}
    finally:
        session.close()


class Asked:
    """The parts of a case that are needed to start an observed run."""

    def __init__(self, tmp: Path) -> None:
        self.tmp, self.capabilities = tmp, frozenset[str]()
        self.session = SimpleNamespace(backend=None)
        self.options = dict[str, Any]()

    def launch(self, *_: object, **options: Any) -> None:
        self.options = options


@pytest.mark.parametrize(
    ("options", "child", "deadline_ms"),
    [
        ({}, True, None),
        ({"timeout_ms": 300}, True, 300),
        ({"timeout_ms": 0}, True, None),
        ({"enabled": False}, False, None),
    ],
)
def test_a_module_is_waited_for_from_its_start_on(
    tmp_path: Path, options: dict[str, Any], child: bool, deadline_ms: int | None
) -> None:
    asked = Asked(tmp_path)
    ModuleClient(cast(Case, asked)).start("id", **options)
    assert (asked.options["child"], asked.options["deadline_ms"]) == (child, deadline_ms)


def test_a_handle_and_a_bridge_are_waited_for_from_their_start_on(tmp_path: Path) -> None:
    asked = Asked(tmp_path)
    process = ProcessClient(cast(Case, asked))
    process.start({}, [])
    assert asked.options["child"]
    asked.options = {}
    process.start_bridge("true")
    assert asked.options["child"]
