"""MODULE-ORDER: which error is reported if there are several."""

from __future__ import annotations

import pytest

from boxspec.api import expect, one_of, requires
from boxspec.api import programs as P
from contracts.module.client import ModuleCase
from contracts.module.judging import FOREVER, at_work, end, quoted, saying_so, time_out

PRINTED = {"a value": "echo 1", "noise": "echo no", "nothing": ":"}


@requires("MODULE-ORDER-01", overlap=0.5, needs=["MODULE-TIME-01"])
@pytest.mark.parametrize("what", PRINTED)
def test_a_timeout_precedes_an_output_error(case: ModuleCase, what: str) -> None:
    case.module.script("late", saying_so(case, f"{PRINTED[what]}; {FOREVER}"))
    seen = time_out(case, "late", lambda: at_work(case))
    expect("outcome of the module", end(seen), "Timeout")


@requires("MODULE-ORDER-01", overlap=0.5, needs=["MODULE-TIME-01"])
def test_a_timeout_precedes_an_exit_code(case: ModuleCase) -> None:
    case.module.script("late", f"trap 'exit 3' TERM; {saying_so(case, 'echo 1; sleep 60 & wait')}")
    seen = time_out(case, "late", lambda: at_work(case))
    expect("outcome of the module", end(seen), "Timeout")


@requires("MODULE-ORDER-01", overlap=1.5, needs=["MODULE-TIME-01", "MODULE-CAP-02"])
def test_a_timeout_precedes_too_much_output_in_the_grace(case: ModuleCase) -> None:
    events = case.events()
    rule = f"--on TERM:print:{64 * 2**20 + 1}"
    case.module.script("late", f"exec {quoted(P.siglog)} {quoted(events.path)} {rule}")
    seen = time_out(case, "late", lambda: bool(events.all("ready")))
    expect("outcome of the module", end(seen), "Timeout")


@requires("MODULE-ORDER-02", needs=["MODULE-CAP-02"])
@pytest.mark.parametrize("how", ["exit 0", "exit 3"])
def test_too_much_output_precedes_an_exit_code(case: ModuleCase, how: str) -> None:
    case.module.script("spills", f"head -c 67108865 /dev/zero; {how}")
    expect(
        "outcome of the module",
        end(case.module.execute("spills", within_s=15)),
        "OutputSizeExceeded",
    )


@requires("MODULE-ORDER-03")
@pytest.mark.parametrize("what", PRINTED)
def test_an_exit_code_precedes_an_output_error(case: ModuleCase, what: str) -> None:
    case.module.script("fails", f"{PRINTED[what]}; exit 3")
    expect("outcome of the module", end(case.module.execute("fails")), "NonZeroExit")


@requires("MODULE-ORDER-03")
@pytest.mark.parametrize("what", PRINTED)
def test_a_signal_precedes_an_output_error(case: ModuleCase, what: str) -> None:
    case.module.script("dies", f"{PRINTED[what]}; kill -KILL $$")
    expect(
        "outcome of the module", end(case.module.execute("dies")), one_of("NonZeroExit", "Signaled")
    )
