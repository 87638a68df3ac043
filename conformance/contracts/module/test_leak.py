"""MODULE-LEAK: what the caller keeps after an execution."""

from __future__ import annotations

import pytest

from boxspec.api import expect, requires
from boxspec.api import programs as P
from contracts.module.client import ModuleCase
from contracts.module.judging import FAILURES, end, quoted
from contracts.shared.caller_state import CALLER, after, expect_passed_on, expect_unchanged
from contracts.shared.moments import until

# How a module ends. The last module times out.
ENDS = {
    "Signaled": "kill -KILL $$",
    "OutputSizeExceeded": "exec head -c 67108865 /dev/zero",
    "member": "sleep 60 & echo 1",
    **FAILURES,
}


def end_and_kept(case: ModuleCase, name: str, ms: int | None = None) -> tuple[str, dict[str, int]]:
    """Return the end of an execution, and the resources that the caller has after it. The caller
    waits at the fifo `hold` meanwhile."""
    with case.module.start(name, timeout_ms=ms, hold=True, within_s=30) as shim:
        shim.wait_response()
        until(lambda: not shim.tree(), 0.5)
        status, children = shim.at_rest(), len(shim.tree())
        seen = shim.finish()
    return end(seen), {
        "descriptors": status.fd_count,
        "threads": status.threads,
        "children": children,
    }


def expect_no_more_than_a_value_leaves(case: ModuleCase, wanted: str, ms: int | None) -> None:
    """Compare what the caller keeps after the module `ends` and after one that gives a value."""
    case.module.script("answers", "echo 1")
    _, usual = end_and_kept(case, "answers")
    how_it_ended, found = end_and_kept(case, "ends", ms)
    more = {what: found[what] - usual[what] for what in found if found[what] > usual[what]}
    expect(
        "outcome of the module, and what the caller keeps that an ordinary execution releases",
        (how_it_ended, more),
        (wanted, {}),
        {"left": found, "after a value": usual},
    )


@requires("MODULE-LEAK-01", overlap=1.0)
@pytest.mark.parametrize("how", [*ENDS, "missing"])
def test_no_end_leaves_more_than_a_value_does(case: ModuleCase, how: str) -> None:
    if how in ENDS:
        case.module.script("ends", ENDS[how])
    wanted = {"member": "value", "missing": "SpawnFailed"}.get(how, how)
    expect_no_more_than_a_value_leaves(case, wanted, 500 if how == "Timeout" else None)


# What a module leaves in its directory, or writes. There are more directories than levels to which
# a removal opens them at once.
MUCH = {
    "directories": "seq 60 | xargs mkdir",
    "nested directories": "for n in $(seq 60); do mkdir d; cd d; done",
    "directories without permissions": "seq 60 | xargs mkdir -m 0; mkdir -p x/y; chmod 0 x",
    "files": "seq 60 | xargs touch",
    "messages": "head -c 3000000 /dev/zero >&2",
}


@requires("MODULE-LEAK-01", overlap=1.0)
@pytest.mark.parametrize("what", MUCH)
def test_no_amount_leaves_more_than_a_value_does(case: ModuleCase, what: str) -> None:
    case.module.script("ends", f"{MUCH[what]}; echo 1")
    expect_no_more_than_a_value_leaves(case, "value", None)


@requires("MODULE-LEAK-02", overlap=0.6)
@pytest.mark.parametrize("how", ["value", "NonZeroExit", "Timeout", "missing"])
def test_after_an_execution_the_state_of_the_caller_is_as_before(
    case: ModuleCase, how: str
) -> None:
    if how != "missing":
        case.module.script("ends", {"value": "echo 1", **FAILURES}[how])
    limit = 500 if how == "Timeout" else None
    held = case.module.start(
        "ends", timeout_ms=limit, hold=True, expect_result=False, within_s=20, state=CALLER
    )
    expect_unchanged(case, after(held))


@requires("MODULE-PIPE-08")
def test_a_module_has_the_identity_and_the_place_of_its_caller(case: ModuleCase) -> None:
    events, fifo = case.events(), case.fifo("gate")
    gate = " ".join(quoted(each) for each in (P.gate, events.path, fifo))
    case.module.script("waits", f"exec {gate}")
    with case.module.start("waits") as shim:
        # A runner may drop the capabilities that open /proc/PID/environ of any process.
        child = events.wait("ready").pid
        inside = case.module.inside.name
        expect_passed_on(shim.shim_pid, child, inside, without=["capability bounding set"])
