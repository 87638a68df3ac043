"""The same run in every company: options that do not strike must change nothing of it.

All of them go at once in one batch; a shim without batches is asked for one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from boxspec.subject.observed import FromOutside
from contracts.shared.runs import RunAnswer

if TYPE_CHECKING:
    from boxspec.subject.case import Box

Request = Mapping[str, Any]

# Far more than the machine may be late by, and less than a hang: a run that waits for it shows it.
DEADLINE_MS = 10_000
WITHIN_S = 15.0

MAY_FAIL = "where a payload may fail"
# The capability that an option needs, and the option.
OPTIONS: dict[str, tuple[str, Request]] = {
    "as it is": ("exec", {}),
    "beside another": ("exec.concurrent", {}),
    "under a deadline that does not strike": ("exec", {"timeout_ms": DEADLINE_MS}),
    "with debug": ("exec.debug", {"debug": True}),
    "under a cap that is not reached": ("exec.cap", {"max_output_bytes": 2**32}),
    MAY_FAIL: ("exec.stdin_failure", {"stdin_failure": "ignore"}),
}


def crossed(
    box: Box, request: Callable[[str], Request]
) -> dict[str, tuple[FromOutside, RunAnswer]]:
    """What was observed and answered, for each option; `request` makes the run of that name."""
    names = [name for name, (needed, _) in OPTIONS.items() if needed in box.capabilities]
    runs = [{**request(name), **OPTIONS[name][1]} for name in names]
    if "exec.concurrent" in box.capabilities:
        batch = box.exec.batch(runs, within_s=WITHIN_S)
        return {name: (batch, run) for name, run in zip(names, batch.runs, strict=True)}
    each = [box.exec.run(**run, within_s=WITHIN_S) for run in runs]
    return {name: (seen, seen) for name, seen in zip(names, each, strict=True)}
