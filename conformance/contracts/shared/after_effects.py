"""Compare how signals act on a caller after an operation with how they act before any."""

from __future__ import annotations

from typing import Any

from boxspec.api import Observed, ShimProcess, expect, for_the_prompt
from boxspec.subject.case import Case

# The time in which a signal must have its effect on a caller that waits at the fifo `hold`.
SIGNAL_ACTS_S = 0.5


# The effects of a signal on a caller, by whether the signal was swallowed.
EFFECTS = {False: "the signal ends the caller", True: "the caller goes on, and exits with 0"}


def swallows(shim: ShimProcess[Any], name: str) -> bool:
    """Send this signal to a caller that waits at the fifo; return True if it still exits with 0."""
    shim.signal(name)
    # Wait a moment before the fifo is released, because a runtime may lose an exception while the
    # fifo ends.
    shim.wait_death(SIGNAL_ACTS_S)
    # If a handler were still installed, it would catch the signal, and the shim would exit with 0.
    ended = shim.wait_exit(10)
    return (ended.how, ended.number) == ("exited", 0)


def expect_acts_as_before(case: Case, held: ShimProcess[Any], name: str) -> None:
    """Expect that a signal has the same effect on a caller after an operation as before any
    operation."""
    with held:
        swallowed = swallows(held, name)
    expect_swallowed_before(case, swallowed, name)


def expect_swallowed_before(case: Case, swallowed: bool, name: str) -> None:
    # Some shims ignore the signal even before any operation: a shell that waits for a program
    # leaves SIGINT to the program.
    before = False
    if swallowed:
        hello = {"op": "hello", "protocol": 1, "nonce": "before any operation"}
        with case.launch(hello, Observed, hold=True, expect_result=False, within_s=12) as shim:
            shim.wait_response()
            before = swallows(shim, name)
    with for_the_prompt(case):
        what = f"the effect of {name} on the caller, which must be as before any operation"
        expect(what, EFFECTS[swallowed], EFFECTS[before])
