"""MODULE-CAP: how much output a module may write."""

from __future__ import annotations

import pytest

from boxspec.api import expect, requires
from contracts.module.client import ModuleCase
from contracts.module.judging import end

MOST = 64 * 1024 * 1024

# With blanks around a value the output is long, but the answer stays short.
BLANKS = "head -c {} /dev/zero | tr '\\0' ' '"


@requires("MODULE-CAP-01", needs=["MODULE-TIME-02"])
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_exactly_the_cap_is_allowed(case: ModuleCase, stream: str) -> None:
    if stream == "stdout":
        case.module.script("fills", BLANKS.format(MOST - 1) + "; printf 1")
    else:
        case.module.script("fills", BLANKS.format(MOST) + " >&2; echo 1")
    seen = case.module.execute("fills", within_s=20)
    expect("outcome of the module, and the value", (end(seen), seen.value), ("value", 1))


@requires("MODULE-CAP-01", needs=["MODULE-TIME-02"])
def test_each_stream_has_its_own_cap(case: ModuleCase) -> None:
    much = BLANKS.format(40_000_000)
    case.module.script("fills", f"{much}; {much} >&2; printf 1")
    seen = case.module.execute("fills", within_s=20)
    expect("outcome of the module, and the value", (end(seen), seen.value), ("value", 1))


@requires("MODULE-CAP-02", needs=["MODULE-TIME-02"])
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_one_byte_more_names_the_stream(case: ModuleCase, stream: str) -> None:
    if stream == "stdout":
        case.module.script("spills", BLANKS.format(MOST) + "; printf 1")
    else:
        case.module.script("spills", BLANKS.format(MOST + 1) + " >&2; echo 1")
    seen = case.module.execute("spills", within_s=20)
    expect("class and stream", (end(seen), seen.field("stream")), ("OutputSizeExceeded", stream))


@requires("MODULE-CAP-03", needs=["MODULE-ORDER-02"])
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_the_cap_ends_a_module_that_then_writes_nothing(case: ModuleCase, stream: str) -> None:
    redirect = "" if stream == "stdout" else " >&2"
    # The script sleeps and does not loop, because the kernel ends a loop with real-time priority.
    case.module.script("stays", f"head -c {MOST + 1} /dev/zero{redirect}; exec sleep 600")
    seen = case.module.execute("stays", within_s=10)
    expect("class and stream", (end(seen), seen.field("stream")), ("OutputSizeExceeded", stream))
