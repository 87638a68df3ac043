"""PROCESS-OPEN-10 and PROCESS-CHILD-02: a caller that has many descriptors open."""

from __future__ import annotations

import json

import pytest

from boxspec.api import expect, requires
from boxspec.api import programs as P
from contracts.process.client import ProcessCase, handle, step
from contracts.process.judging import CAT, RUNNING, asked
from contracts.shared.callers import MANY_DESCRIPTORS, many_descriptors


@requires("PROCESS-OPEN-10")
def test_processes_work_with_more_descriptors_than_select_supports(case: ProcessCase) -> None:
    # These handles use up the few low numbers that are still free.
    others = ["first", "second", "third"]
    steps = [step("open"), step("wait", timeout_ms=20), *asked(b"x\n"), step("close_stdin")]
    steps += [step("wait", timeout_ms=10_000), step("close")]
    handles = dict.fromkeys(["a", *others], handle(CAT))
    opens = [step("open", other) for other in others]
    seen = case.process.script(handles, [*opens, *steps], state=many_descriptors(), within_s=20)
    answers = seen.steps[len(opens) :]
    got = (answers[1], seen.data(len(opens) + 3), answers[5], answers[6].get("exited"))
    expect("poll, reply, how the child ended, close", got, (RUNNING, b"x\n", {"exited": 0}, 0))


@requires("PROCESS-OPEN-10")
def test_a_bridge_works_with_more_descriptors_than_select_supports(case: ProcessCase) -> None:
    place = case.tmp / "input"
    place.write_bytes(b"x" * 100_000)
    seen = case.process.bridge(CAT, stdin=place, state=many_descriptors(), within_s=20)
    expect(
        "how the child ended, and the bytes",
        (seen.how, len(seen.shim_stdout)),
        ({"exited": 0}, 100_000),
    )


@requires("PROCESS-CHILD-02", needs=["PROCESS-OPEN-10"])
@pytest.mark.parametrize("how", ["script", "bridge"])
def test_no_descriptor_of_its_own_is_passed_on_whatever_its_number(
    case: ProcessCase, how: str
) -> None:
    # Open descriptors use all low numbers. So the shim's own descriptors get numbers above these;
    # the child may inherit them.
    place, state = case.tmp / "report.json", many_descriptors()
    if how == "bridge":
        case.process.bridge(P.report, [place], state=state, within_s=20)
    else:
        handles = {"b": handle(CAT), "a": handle(P.report, [place])}
        steps = [step("open", "b"), step("take", "b", stream="stdin"), step("open"), step("wait")]
        case.process.script(handles, steps, state=state, within_s=20)
    numbers = [each["fd"] for each in json.loads(place.read_text())["fds"]]
    expect(
        "descriptors in the child that its caller did not inherit",
        [each for each in numbers if each >= MANY_DESCRIPTORS],
        [],
    )
