"""A process.run request with a field that only exec.run has must be refused."""

from __future__ import annotations

from typing import Any

import pytest

from boxspec.judge.verdict import Failure
from boxspec.subject.observe.stamps import Stamp
from boxspec.subject.observed import Facts
from contracts.process.client import Script, handle, step
from contracts.process.judging import refusal

FACTS = Facts(("exited", 0), Stamp(0, 0), Stamp(0, 0))
WRONG = {"error": {"kind": "invalid_input", "message": "no field of a process"}}


def script(raw: dict[str, Any]) -> Script:
    steps = [step("open")]
    return Script(raw, FACTS).of({"handles": {"a": handle("x")}, "steps": steps})


def unsupported(capability: str) -> Script:
    return script({"unsupported": {"capability": capability, "why": "it is not declared"}})


@pytest.mark.parametrize(
    "seen",
    [script({"result": {"steps": [WRONG]}}), script(WRONG), unsupported("exec.cap")],
    ids=["the step", "the request", "unsupported"],
)
def test_each_way_the_protocol_has_is_a_refusal(seen: Script) -> None:
    assert refusal(seen, {"process"}) == "invalid_input"


def test_a_script_that_opens_a_process_is_no_refusal() -> None:
    assert refusal(script({"result": {"steps": [{"pid": 1}]}}), {"process"}) is None


def test_unsupported_for_a_declared_capability_is_a_failure() -> None:
    with pytest.raises(Failure):
        refusal(unsupported("exec.cap"), {"process", "exec.cap"})
