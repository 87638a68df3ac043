"""Modules in unusual situations: descriptors, leaks, stops, names in values, and signals."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from boxspec.api import Late, NotApplicable, NotMeasured, at_most, expect, requires, written
from boxspec.api import programs as P
from contracts.module.client import ModuleCase
from contracts.module.judging import (
    FOREVER,
    REMOVE_MS,
    at_work,
    end,
    expect_home_gone,
    filling,
    noted,
    noting_home,
    printing,
    quoted,
    saying_so,
    time_out,
)
from contracts.shared.callers import in_a_removed_directory, many_descriptors
from contracts.shared.moments import elapsed_ms, need_handlers, send, until


def reporting(case: ModuleCase, **options: Any) -> list[int]:
    """Return the descriptors that a module reports."""
    place = case.tmp / "report.json"
    case.module.script("tells", f"exec {quoted(P.report)} {quoted(place)}")
    case.module.execute("tells", [1], **options)
    return [each["fd"] for each in json.loads(noted(place))["fds"]]


@requires("MODULE-PIPE-03")
@pytest.mark.parametrize("number", [3, 4, 255, 256, 511])
def test_a_descriptor_of_any_number_is_not_passed_on(case: ModuleCase, number: int) -> None:
    kept = case.tmp / "kept"
    kept.write_text("x")
    found = reporting(case, state=["--leave-open", f"{number}={kept}"])
    expect("the module's descriptors", found, [0, 1, 2])


@requires("MODULE-PIPE-03", needs=["MODULE-PIPE-05"])
def test_of_many_descriptors_none_is_passed_on(case: ModuleCase) -> None:
    expect("the module's descriptors", reporting(case, state=many_descriptors())[:9], [0, 1, 2])


@requires("MODULE-PIPE-05")
def test_a_module_works_with_more_descriptors_than_select_supports(case: ModuleCase) -> None:
    value = ["x" * 1000] * 200
    case.module.script("echoes", "cat; echo warned >&2")
    seen = case.module.execute("echoes", value, state=many_descriptors(), timeout_ms=600_000)
    expect(
        "outcome of the module, and whether the value is the expected one",
        (end(seen), seen.value == value),
        ("value", True),
    )


@requires("MODULE-TIME-05", overlap=1.5)
@pytest.mark.parametrize("who", ["module", "member"])
def test_a_stopped_process_may_use_the_grace(case: ModuleCase, who: str) -> None:
    events = case.events()
    log = f"{quoted(P.siglog)} {quoted(events.path)} --on TERM:exit:0"
    stop = f"{quoted(P.stop_self)} {quoted(events.path)} --on TERM:exit:5"
    body = f"exec {stop}" if who == "module" else f"{stop} &\nexec {log}"
    case.module.script("stops", body)
    seen = time_out(case, "stops", lambda: bool(events.all("stopping")), 800)
    stopped = events.all("stopping")[0].pid
    ends = [event.rest[:1] for event in events.all("end") if event.pid == stopped]
    expect(
        "outcome of the module, and how the stopped process ended",
        (end(seen), ends),
        ("Timeout", [["5"]]),
    )


@requires("MODULE-EXIT-05")
def test_a_stopped_module_is_not_ended(case: ModuleCase) -> None:
    events, fifo = case.events(), case.fifo("gate")
    body = f"{quoted(P.gate)} {quoted(events.path)} {quoted(fifo)}; echo 1"
    case.module.script("waits", body)
    with case.module.start("waits") as shim:
        gate = events.wait("ready")
        module = next(each.ppid for each in shim.descendants() if each.pid == gate.pid)
        send(module, "STOP")
        until(lambda: not shim.running, 0.4)
        send(module, "CONT")
        case.open_gate(fifo)
        seen = shim.finish()
    expect("outcome of the module, and the value", (end(seen), seen.value), ("value", 1))


@requires("MODULE-EXIT-05")
@pytest.mark.parametrize("streams", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_module_that_closed_its_outputs_is_not_ended(case: ModuleCase, streams: str) -> None:
    mark = case.tmp / "mark"
    case.module.script("closes", f"exec {streams}\nsleep 0.3\n: >{quoted(mark)}\nexit 3")
    seen = case.module.execute("closes")
    got = (end(seen), seen.field("exit_code"), mark.exists())
    expect(
        "class of the error, exit_code, and whether the module went on",
        got,
        ("NonZeroExit", 3, True),
    )


# Names that a reader may cut, change or refuse.
NAMES: dict[str, str] = {
    "a NUL": "a\0b",
    "a NUL in front": "\0a",
    "only a NUL": "\0",
    "control characters": "a\x01\x1f\x7fb\tc\nd",
    "quotes and backslashes": 'a"b\\c\\"d',
    "a slash": "a/b",
    "an escape": "a\\u0041",
    "a character beyond 16 bits": "a\U0001f600b",
    "300 characters": "x" * 300,
    "70,000 characters": "y" * 70_000,
    "white space": " a ",
    "nothing": "",
}


@requires("MODULE-JSON-01")
def test_every_name_arrives_unchanged(case: ModuleCase) -> None:
    # All values differ, so that the test notices if two names become one.
    value = {name: {name: n} for n, name in enumerate(NAMES.values())}
    seen = printing(case, json.dumps(value).encode())
    got = seen.value if isinstance(seen.value, dict) else {}
    wrong = [what for what, name in NAMES.items() if got.get(name) != value[name]]
    expect(
        "outcome of the module; names without their value; number of names that arrived",
        (end(seen), wrong, len(got)),
        ("value", [], len(value)),
    )


@requires("MODULE-JSON-03")
def test_every_name_of_the_input_arrives_unchanged(case: ModuleCase) -> None:
    value = {name: {name: n} for n, name in enumerate(NAMES.values())}
    place = case.tmp / "input"
    case.module.script("keeps", f"cat >{quoted(place)}; echo 1")
    seen = case.module.execute("keeps", value)
    expect("outcome of the module", end(seen), "value")
    got = json.loads(written(place))
    wrong = [what for what, name in NAMES.items() if got.get(name) != value[name]]
    expect(
        "names that did not arrive, and the number of those that did",
        (wrong, len(got)),
        ([], len(value)),
    )


# Texts that are not JSON because of the name of a member.
BAD_NAMES: dict[str, bytes] = {
    "half of a surrogate pair": b'{"a\\ud800": 1}',
    "the other half": b'{"\\udc00a": 1}',
    "half of a pair inside": b'[{"a": {"\\ud83dx": 1}}]',
    "a raw control character": b'{"a\nb": 1}',
    "a raw NUL": b'{"a\0b": 1}',
    "no UTF-8": b'{"a\xff": 1}',
    "an encoded surrogate": b'{"\xed\xa0\x80": 1}',
    "an unknown escape": b'{"\\x41": 1}',
    "without quotes": b"{a: 1}",
    "single quotes": b"{'a': 1}",
    "a number": b"{1: 1}",
}


@requires("MODULE-JSON-02")
@pytest.mark.parametrize("what", BAD_NAMES)
def test_a_value_with_a_bad_name_is_refused(case: ModuleCase, what: str) -> None:
    seen = printing(case, BAD_NAMES[what])
    expect(
        "class, and whether there is a reason",
        (end(seen), isinstance(seen.field("reason"), str)),
        ("OutputParseFailed", True),
    )


@requires("MODULE-JSON-01")
@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"a": 1, "\\u0061": 2}'])
def test_a_name_that_is_given_twice_is_refused_or_has_one_of_its_values(
    case: ModuleCase, text: str
) -> None:
    seen = printing(case, text.encode())
    right = seen.outcome == "OutputParseFailed" or seen.value in ({"a": 1}, {"a": 2})
    expect(
        "whether the output is refused or has one of the two values",
        right,
        True,
        {"outcome": seen.outcome, "value": seen.value},
    )


@requires("MODULE-PARENT-03", overlap=1.5, needs=["MODULE-DIR-04"])
@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_a_signal_during_the_removal_ends_neither_caller_nor_removal(
    case: ModuleCase, name: str
) -> None:
    # Other processes create files during the removal, and so keep it busy for 1 s.
    fills = filling(case.fifo("ready"), 300)
    case.module.script("fills", noting_home(case, fills))
    before = [time.monotonic_ns()]  # the removal begins after the last of these moments
    with case.module.start("fills", expect_result=False, within_s=20) as shim:
        if not until(lambda: (case.tmp / "home").exists(), 15):
            raise Late("the module starts", "within 15 s", "not yet")
        home = Path(noted(case.tmp / "home"))
        # When the shim ends, a leak checker may start another process. So note the module's
        # processes now.
        module = {each.pid for each in shim.children()}

        def look() -> bool:
            """True if the module has ended, and the writers keep the removal busy."""
            looked_ns = shim.now_ns()
            if removing(shim, home, module):
                return True
            before.append(looked_ns)
            return False

        if not until(look, 10):
            raise Late("the removal is under way", "files disappear", "none did")
        shim.signal(name)
        for each in shim.descendants():
            if each.pid != shim.shim_pid:
                send(each.pid, "KILL")
        seen = shim.finish()
    if not seen.ok:
        expect("how the caller ended", seen.shim_exit, "an answer")
    # The removal took at most this time. An implementation may give up, and leave the directory,
    # only after REMOVE_MS.
    took_ms = elapsed_ms(before[-1], seen.end.t_ns)
    left_early = home.exists() and took_ms < REMOVE_MS / 2
    unnamed = home.exists() and seen.result.get("directory_left") != str(home)
    expect(
        "whether the removal ended early, and a directory is left without being reported",
        (left_early, unnamed),
        (False, False),
        {"outcome": seen.outcome, "took_ms": took_ms},
    )


def removing(shim: Any, home: Path, module: set[int]) -> bool:
    """True if none of the module's processes is alive, and its directory exists."""
    alive = {each.pid for each in shim.children() if each.alive}
    return home.exists() and not alive & module


@requires("MODULE-ORDER-01", overlap=2.0, needs=["MODULE-TIME-03"])
def test_a_signal_in_the_grace_leaves_the_timeout(case: ModuleCase) -> None:
    events = case.events()
    body = f"exec {quoted(P.siglog)} {quoted(events.path)} --on TERM:exit:0:900"
    case.module.script("tidies", noting_home(case, body))
    with case.module.start("tidies", timeout_ms=1500, within_s=20) as shim:
        events.wait("signal", timeout_s=15)
        shim.signal("INT")
        seen = shim.finish()
    expect("outcome of the module", end(seen), "Timeout")
    expect_home_gone(case, seen)


TRIES = 5


@requires("MODULE-PARENT-01", overlap=2.0)
@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_a_signal_before_the_module_starts_ends_the_execution(case: ModuleCase, name: str) -> None:
    case.module.script("waits", FOREVER)
    usual = permanent_folders(case)
    for _ in range(TRIES):
        with case.module.start("waits", expect_result=False, within_s=25) as shim:
            need_handlers(case, shim)
            shim.signal(name)
            seen = shim.finish()
        left = [each.describe() for each in seen.lasting]
        more = sorted(folders(case) - usual) if seen.ok else []
        expect("processes and directories that are left", (left, more), ([], []))


def folders(case: ModuleCase) -> set[str]:
    """Return the names of the directories in TMPDIR, in which the modules' directories are made."""
    return {each.name for each in case.module.below.iterdir() if each.is_dir()}


def permanent_folders(case: ModuleCase) -> set[str]:
    """Return the directories that stay after an ordinary execution, for example the caches of a
    runtime."""
    case.module.script("ordinary", "echo 1")
    expect("outcome of an ordinary execution", end(case.module.execute("ordinary")), "value")
    return folders(case)


@requires("MODULE-ID-07")
def test_a_module_is_executed_where_the_callers_directory_was_removed(case: ModuleCase) -> None:
    if case.module.inside.name is not None:
        raise NotApplicable("no sandbox starts in a removed directory")
    state = in_a_removed_directory(case)
    case.module.script("answers", noting_home(case, "echo 1"))
    seen = case.module.execute("answers", state=state)
    expect("outcome of the module, and the value", (end(seen), seen.value), ("value", 1))
    expect_home_gone(case, seen)


@requires("MODULE-PIPE-01")
@pytest.mark.parametrize("closed", [("0",), ("1",), ("2",), ("0", "1", "2")], ids="".join)
def test_a_module_works_with_standard_descriptors_closed(
    case: ModuleCase, closed: tuple[str, ...]
) -> None:
    state = [word for fd in closed for word in ("--close", fd)]
    case.module.script("echoes", "cat; echo warned >&2")
    seen = case.module.execute("echoes", {"a": [1]}, state=state)
    expect("outcome of the module, and the value", (end(seen), seen.value), ("value", {"a": [1]}))


@requires("MODULE-LEAK-01", overlap=2.0)
def test_without_descriptors_an_execution_fails_and_leaves_nothing(case: ModuleCase) -> None:
    if case.module.inside.name is not None:
        raise NotApplicable("no sandbox starts with so few descriptors")
    case.module.script("answers", "echo 1")
    usual = permanent_folders(case)
    ends: list[str] = []
    for limit in range(5, 48):
        seen = case.module.execute(
            "answers", state=["--nofile", str(limit)], expect_result=False, within_s=10
        )
        if seen.raw is None:
            continue  # the shim itself does not start
        kind = (seen.raw.get("error") or {}).get("kind") or seen.outcome
        left = [each.describe() for each in (*seen.survivors, *seen.zombies)]
        more = sorted(folders(case) - usual)
        expect(f"what an execution with {limit} descriptors leaves", (left, more), ([], []))
        ends.append(str(kind))
        if ends[-4:] == ["value"] * 4:
            expect("number of different outcomes", len(set(ends)), at_most(6), {"ends": ends})
            return
    raise NotMeasured(f"the shim needs more than 48 descriptors: {ends}")


@requires("MODULE-TIME-03", overlap=1.5)
def test_a_module_whose_main_thread_ended_has_the_grace(case: ModuleCase) -> None:
    events = case.events()
    run = f"exec {quoted(P.threaded)} {quoted(events.path)}"
    case.module.script("threads", saying_so(case, run))
    seen = time_out(case, "threads", lambda: bool(events.all("ready")) and at_work(case), 800)
    ends = len(events.all("end"))
    expect(
        "outcome of the module, and how often the other thread ended without being killed",
        (end(seen), ends),
        ("Timeout", 1),
    )
