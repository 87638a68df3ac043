"""Repeat a run with each option that must not change its result.

An example is a limit that is not reached. All variants run at once in one batch, or one after the
other if the shim has no batches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from boxspec.subject.observed import FromOutside
from contracts.shared.requests import ExecRequest
from contracts.shared.runs import RunAnswer

if TYPE_CHECKING:
    from contracts.exec.client import ExecCase

# Much longer than scheduling delay, and shorter than WITHIN_S. So the test fails if a run wrongly
# waits for its deadline.
DEADLINE_MS = 10_000
WITHIN_S = 15.0

MAY_FAIL = "with a payload that may fail"
# For each label: the capability that the option needs, and the option.
OPTIONS: dict[str, tuple[str, ExecRequest]] = {
    "without options": ("exec", {}),
    "together with other runs": ("exec.concurrent", {}),
    "with a deadline that is not reached": ("exec", {"timeout_ms": DEADLINE_MS}),
    "with debug": ("exec.debug", {"debug": True}),
    "with a cap that is not reached": ("exec.cap", {"max_output_bytes": 2**32}),
    MAY_FAIL: ("exec.stdin_failure", {"stdin_failure": "ignore"}),
}


def run_with_each_option(
    case: ExecCase, request: Callable[[str], ExecRequest]
) -> dict[str, tuple[FromOutside, RunAnswer]]:
    """Run the request with each option. Return the observations, and the answers by label.

    `request` is a function that returns the request for a label.
    """
    names = [name for name, (needed, _) in OPTIONS.items() if needed in case.capabilities]
    runs = [request(name) | OPTIONS[name][1] for name in names]
    if "exec.concurrent" in case.capabilities:
        batch = case.exec.batch(runs, within_s=WITHIN_S)
        return {name: (batch, run) for name, run in zip(names, batch.runs, strict=True)}
    each = [case.exec.run(**run, within_s=WITHIN_S) for run in runs]
    return {name: (seen, seen) for name, seen in zip(names, each, strict=True)}
