"""MODULE-RUNNER: the actions of the runner before it executes the module."""

from __future__ import annotations

import pytest

from boxspec.api import expect, requires
from boxspec.api import programs as P
from contracts.module.client import ModuleCase
from contracts.module.judging import end, quoted

WRONG: dict[str, tuple[list[str], bytes]] = {
    "no id": ([], b"1"),
    "an input that is not JSON": (["marks"], b"{"),
    "no input": (["marks"], b""),
    "two values": (["marks"], b"1 2"),
    "a long input whose last byte is missing": (["marks"], b"[" + b"1, " * 100_000 + b"1"),
    "NaN": (["marks"], b"[NaN]"),
    "no UTF-8": (["marks"], b'"\xff"'),
    "a byte order mark": (["marks"], b"\xef\xbb\xbf1"),
    "a question for help": (["--help"], b"1"),
    "a question for the version": (["--version"], b"1"),
    "no such module": (["other"], b"1"),
    "what is not an id": (["../marks"], b"1"),
    "what looks like an option": (["-marks"], b"1"),
    "its own word for an id": (["--internal-sandbox-runner"], b"1"),
}


@requires("MODULE-RUNNER-01", capability="module.runner")
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_call_executes_nothing(case: ModuleCase, what: str) -> None:
    mark = case.tmp / "mark"
    case.module.script("marks", f": >{quoted(mark)}; cat")
    right = case.module.runner("marks", given=b"[1]")
    control = (right.shim_exit, right.shim_stdout, mark.exists())
    wanted = (("exited", 0), b"[1]", True)
    expect(
        "a valid call: exit status, output, whether the module ran",
        control,
        wanted,
        verdict="unproven",
    )
    mark.unlink()
    words, given = WRONG[what]
    for word in words:
        if word.startswith("-"):
            case.module.script(word, f": >{quoted(mark)}; cat")
    wrong = case.module.runner(*words, given=given)
    got = (wrong.shim_exit, bool(wrong.shim_stderr.strip()), mark.exists())
    expect(
        "how the runner ended, whether stderr has a message, whether the module ran",
        got,
        (("exited", 1), True, False),
    )


@requires("MODULE-RUNNER-02")
def test_the_module_is_the_child_itself(case: ModuleCase) -> None:
    fifo, events = case.fifo("gate"), case.events()
    run = f"exec {quoted(P.gate)} {quoted(events.path)} {quoted(fifo)} --out 1"
    case.module.script("waits", run)
    with case.module.start("waits") as shim:
        module = events.wait("ready").pid
        found = [each for each in shim.tree() if each.pid == module]
        facts = [(each.ppid == shim.shim_pid, each.pgid == each.pid) for each in found]
        case.open_gate(fifo)
        seen = shim.finish()
    got = (end(seen), facts)
    wanted = ("value", [(True, True)])
    expect(
        "outcome of the module; is it a child of the caller, and the leader of its group",
        got,
        wanted,
    )
