"""EXEC-SIGNAL-14: the line that a signal to the caller adds to stderr."""

from __future__ import annotations

import pytest

from boxspec.api import expect, requires
from boxspec.api import programs as P
from contracts.exec.caller_signals import SAYS, SIGNALS, interrupted
from contracts.exec.client import ExecCase
from contracts.exec.spawn_io import STDERR_SIZES, digest, stream, writes_zeros

STDERR = [b"", b"x", b"x\n", "Zürich €\n\n".encode()]


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("text", STDERR, ids=["empty", "text", "newline", "newlines"])
@requires("EXEC-SIGNAL-14")
def test_the_annotation_is_joined_by_exactly_one_newline(
    case: ExecCase, name: str, text: bytes
) -> None:
    output: list[str | bytes] = ["--err", text] if text else []
    seen = interrupted(case, name, *output, "--on", f"{name}:exit:0", program=P.siglog)
    joined = text + b"\n" + SAYS[name] if text else SAYS[name]
    expect("stderr", seen.stderr, joined)


@pytest.mark.parametrize("size", STDERR_SIZES)
@requires("EXEC-SIGNAL-14")
def test_a_stderr_of_each_size_ends_in_the_annotation(case: ExecCase, size: int) -> None:
    events = case.events()
    with case.exec.start(**writes_zeros(size, events.path), within_s=20) as shim:
        events.wait("ready")
        shim.signal("TERM")
        seen = shim.finish()
    whole = digest(bytes(size) + b"\n" + SAYS["TERM"])
    expect("length and digest of stderr", stream(seen, "stderr"), whole)
