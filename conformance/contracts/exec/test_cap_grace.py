"""EXEC-CAP: output beyond max_output_bytes that is written after the first signal."""

from __future__ import annotations

from typing import Any

import pytest

from boxspec.api import expect, expect_within, requires
from boxspec.api import programs as P
from contracts.exec.answers import ObservedRun
from contracts.exec.caller_signals import ended_once_set_up
from contracts.exec.client import ExecCase
from contracts.exec.moments import BY_SIGINT, BY_SIGTERM, TIMED_OUT, settled
from contracts.exec.spawn_io import digest, pattern, shell, stream

CAP = 1000
# More than a pipe holds, so the child cannot go on unless its output is read.
SIZE = 200_000
# The deadline comes after the shell has set its handlers, even on a busy machine.
DEADLINE_MS = 900
# For each cause: `exit_code` of the result, and the annotation.
ENDS: dict[str, tuple[int | None, bytes]] = {
    "deadline": (None, TIMED_OUT),
    "TERM": (143, BY_SIGTERM),
    "INT": (130, BY_SIGINT),
}
STREAMS = ["stdout", "stderr"]


def flood_in_grace(case: ExecCase, cause: str, name: str) -> ObservedRun:
    """Run a child that writes too much to a stream after the first signal, and then goes on for
    300 ms before it logs its end."""
    events, mark = case.events(), case.tmp / "set up"
    sizes = f"{SIZE} 0" if name == "stdout" else f"0 {SIZE}"
    handler = f'"$1" {sizes} 2>&3 && "$2" "$3" 300; exit 0'
    # The shell reports the end of `sleep` on its own stderr.
    line = (
        f"exec 3>&2 2>/dev/null; trap '{handler}' TERM INT; : >\"$4\"; while :; do sleep 0.05; done"
    )
    request = shell(line, P.flood, P.slow_exit, events.path, mark)
    return ended_once_set_up(case, cause, mark, **request, max_output_bytes=CAP)


@requires("EXEC-CAP-04", capability="exec.cap", overlap=1.7, needs=["EXEC-KILL-01"])
@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("cause", ENDS)
def test_output_beyond_the_cap_in_the_grace_keeps_the_grace_and_the_outcome(
    case: ExecCase, cause: str, name: str
) -> None:
    result = flood_in_grace(case, cause, name).result
    expect(
        "how often the child ended by itself, success, exit code, truncated",
        (
            len(case.events().all("end")),
            result["success"],
            result["exit_code"],
            result["truncated"],
        ),
        (1, False, ENDS[cause][0], True),
    )


@requires("EXEC-CAP-04", capability="exec.cap", overlap=1.7, needs=["EXEC-KILL-01", "EXEC-CAP-03"])
@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("cause", ENDS)
def test_output_beyond_the_cap_in_the_grace_keeps_the_annotation(
    case: ExecCase, cause: str, name: str
) -> None:
    seen, note = flood_in_grace(case, cause, name), ENDS[cause][1]
    wanted = {"stdout": digest(pattern(CAP)), "stderr": digest(note)}
    if name == "stderr":
        wanted = {"stdout": digest(b""), "stderr": digest(pattern(CAP, "A") + b"\n" + note)}
    expect("stdout and stderr", {each: stream(seen, each) for each in STREAMS}, wanted)


@requires("EXEC-CAP-02", capability="exec.cap", overlap=6.5, needs=["EXEC-KILL-02"])
@pytest.mark.parametrize("size", [CAP, CAP - 1])
def test_output_within_the_cap_is_whole_after_sigkill(case: ExecCase, size: int) -> None:
    line = 'trap "" TERM; "$1" "$2" 0; exec "$3" "$4" 60000'
    request = shell(line, P.flood, size, P.slow_exit, case.events().path)
    limits: dict[str, Any] = {"timeout_ms": DEADLINE_MS, "max_output_bytes": CAP}
    seen = case.exec.run(**request, **limits, within_s=20)
    settled(case.events())
    got = (seen.result["exit_code"], seen.result["truncated"], seen.stdout_len)
    expect("exit_code, truncated and bytes kept", got, (None, False, size))


@requires(
    "EXEC-CAP-04",
    capability="exec.cap",
    overlap=6.5,
    timing=True,
    needs=["EXEC-KILL-01", "EXEC-KILL-02"],
)
def test_output_beyond_the_cap_in_the_grace_does_not_extend_it(case: ExecCase) -> None:
    # The child writes too much, and then sleeps until SIGKILL ends it.
    events = case.events()
    handler = f'"$1" --sync "$2"; "$3" {SIZE} 0; exec sleep 60'
    line = f"trap '{handler}' TERM; while :; do sleep 0.05; done"
    request = shell(line, P.emit, events.path, P.flood)
    with case.exec.start(
        **request, timeout_ms=DEADLINE_MS, max_output_bytes=CAP, within_s=20
    ) as shim:
        begun = events.wait("sync", timeout_s=15)
        seen = shim.finish()
    result = seen.result
    left = [each.describe() for each in seen.lasting]
    expect(
        "success, exit code, truncated, bytes kept, survivors",
        (result["success"], result["exit_code"], result["truncated"], seen.stdout_len, left),
        (False, None, True, CAP, []),
    )
    what = "from the child's first step in the grace period to the end of the run"
    expect_within(case, what, begun.effect, seen.end, case.grace_ms + case.tick_ms)
