"""MODULE-PARENT: a caller that is told to end, or is ended."""

from __future__ import annotations

import pytest

from boxspec.api import Box, expect, requires
from boxspec.api import programs as P
from contracts.module.judging import end, expect_home_gone, noting_home, quoted
from contracts.shared.moments import until


@requires("MODULE-PARENT-01", needs=["MODULE-DIR-02"])
@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_a_signal_to_the_caller_ends_the_module(box: Box, name: str) -> None:
    events = box.events()
    words = [quoted(P.siglog), quoted(events.path), "--on INT:exit:0", "--on TERM:exit:0"]
    box.module.script("waits", noting_home(box, f"exec {' '.join(words)}"))
    with box.module.start("waits") as live:
        events.wait("ready")
        live.signal(name)
        seen = live.finish()
    got = (end(seen), seen.field("module_id"), seen.field("signal"))
    expect("class, module_id and signal", got, ("Interrupted", "waits", f"SIG{name}"))
    expect("processes that live on", [each.describe() for each in seen.lasting], [])
    expect_home_gone(box, seen)


@requires("MODULE-PARENT-01", needs=["MODULE-TIME-03"])
def test_a_signal_to_the_caller_reaches_the_whole_group(box: Box) -> None:
    events = box.events()
    words = ["--on TERM:exit:0", "--members 1", "--member-on TERM:exit:0:700"]
    box.module.script("leads", f"exec {quoted(P.siglog)} {quoted(events.path)} {' '.join(words)}")
    with box.module.start("leads") as live:
        events.wait("ready")
        live.signal("TERM")
        seen = live.finish()
    member = events.all("member")[0].pid
    told = [event.rest[0] for event in events.all("signal") if event.pid == member]
    expect("the end", end(seen), "Interrupted")
    expect("the first signal of the module's own child", told[:1], ["TERM"])
    expect("processes that live on", [each.describe() for each in seen.lasting], [])


@requires("MODULE-PARENT-02", needs=["MODULE-RUNNER-02"])
def test_a_caller_that_is_killed_takes_the_module_along(box: Box) -> None:
    fifo, events = box.fifo("gate"), box.events()
    box.module.script("waits", f"exec {quoted(P.gate)} {quoted(events.path)} {quoted(fifo)}")
    with box.module.start("waits", expect_result=False) as live:
        module = events.wait("ready").pid
        live.signal("KILL")
        live.wait_exit()
        gone = until(lambda: module not in {p.pid for p in live.descendants() if p.alive}, 3)
        left = [each.describe() for each in live.descendants() if each.alive]
    expect("whether the module is gone", gone, True, {"survivors": left} if left else {})
