"""MODULE-EXIT: modules that do not end with exit status 0."""

from __future__ import annotations

import pytest

from boxspec.api import expect, one_of, requires
from boxspec.api import programs as P
from contracts.module.client import ModuleCase
from contracts.module.judging import end, quoted
from contracts.shared.moments import expect_none_left


@requires("MODULE-EXIT-01")
@pytest.mark.parametrize("code", [1, 3, 130, 255])
def test_the_exit_code_is_reported(case: ModuleCase, code: int) -> None:
    case.module.script("fails", f"exit {code}")
    seen = case.module.execute("fails")
    got = (end(seen), seen.field("module_id"), seen.field("exit_code"))
    expect("class, module_id and exit_code", got, ("NonZeroExit", "fails", code))


@requires("MODULE-EXIT-01")
@pytest.mark.parametrize("module_id", ["a.b-c", "x.sh"])
def test_an_error_names_the_whole_id(case: ModuleCase, module_id: str) -> None:
    case.module.script(module_id, "exit 3")
    seen = case.module.execute(module_id)
    got = (end(seen), seen.field("module_id"))
    expect("class and module_id", got, ("NonZeroExit", module_id))


@requires("MODULE-EXIT-01")
def test_the_stderr_of_a_failed_module_is_reported_as_text(case: ModuleCase) -> None:
    case.module.script("fails", "echo value; printf 'a\\377b\\n\\303\\251' >&2; exit 3")
    expect("stderr", case.module.execute("fails").field("stderr"), "a\ufffdb\né")


@requires("MODULE-EXIT-01")
def test_the_stderr_of_a_failed_module_is_reported_to_its_last_character(case: ModuleCase) -> None:
    """Execute a module that fails and writes unusual characters to stderr.

    The text does not end at a NUL, CR LF stays CR LF, and trailing blanks are kept.
    """
    case.module.script("fails", "printf ' a\\r\\nb\\0c\\n \\n' >&2; exit 3")
    expect("stderr", case.module.execute("fails").field("stderr"), " a\r\nb\0c\n \n")


@requires("MODULE-EXIT-01")
def test_a_character_split_between_two_reads_stays_whole(case: ModuleCase) -> None:
    place = case.tmp / "text"
    # Each character has three bytes, so that some reads of a power of two end inside a character.
    place.write_text("x" + "\u20ac" * 100_000, encoding="utf-8")
    case.module.script("fails", f"cat {quoted(place)} >&2; exit 3")
    told = str(case.module.execute("fails").field("stderr"))
    expect("characters on stderr, and which", (len(told), {*told}), (100_001, {"x", "\u20ac"}))


@requires("MODULE-EXIT-01")
def test_an_end_after_closed_outputs_is_reported(case: ModuleCase) -> None:
    wait = f"{quoted(P.slow_exit)} /dev/null 300"
    case.module.script("fails", f"echo 1; exec >&- 2>&-; {wait}; exit 3")
    seen = case.module.execute("fails")
    got = (end(seen), seen.field("exit_code"))
    expect("class and exit_code", got, ("NonZeroExit", 3))


@requires("MODULE-EXIT-01")
@pytest.mark.parametrize("size", [200_000, 5 * 2**20])
def test_a_long_stderr_is_reported_whole(case: ModuleCase, size: int) -> None:
    case.module.script("fails", f"head -c {size} /dev/zero | tr '\\0' e >&2; exit 3")
    told = str(case.module.execute("fails").field("stderr"))
    got = (len(told), {*told})
    expect("characters on stderr, and which", got, (size, {"e"}))


@requires("MODULE-EXIT-02")
@pytest.mark.parametrize("name", ["KILL", "SEGV", "TERM"])
def test_a_death_is_no_value(case: ModuleCase, name: str) -> None:
    case.module.script("dies", f"echo 1; kill -{name} $$")
    seen = case.module.execute("dies")
    got = (end(seen), seen.field("exit_code"))
    expect("class and exit_code", got, one_of(("NonZeroExit", -1), ("Signaled", None)))


@requires("MODULE-EXIT-03")
@pytest.mark.parametrize("name", ["KILL", "TERM", "USR1"])
def test_a_death_names_its_signal(case: ModuleCase, name: str) -> None:
    case.module.script("dies", f"kill -{name} $$")
    seen = case.module.execute("dies")
    got = (end(seen), seen.field("module_id"), seen.field("signal"))
    expect("class, module_id and signal", got, ("Signaled", "dies", f"SIG{name}"))


@requires("MODULE-EXIT-03")
def test_a_dumped_core_is_no_part_of_the_signal(case: ModuleCase) -> None:
    case.module.script("dies", "ulimit -c unlimited 2>/dev/null; kill -ABRT $$")
    seen = case.module.execute("dies")
    got = (end(seen), seen.field("signal"))
    expect("class and signal", got, ("Signaled", "SIGABRT"))


@requires("MODULE-EXIT-03")
def test_a_signal_without_a_name_of_its_own_is_reported_as_a_signal(case: ModuleCase) -> None:
    """The shim may choose any name for signal 40, which is a real-time signal."""
    case.module.script("dies", "kill -40 $$")
    seen = case.module.execute("dies")
    got = (end(seen), bool(seen.field("signal")))
    expect("class, and whether the signal is named", got, ("Signaled", True))


@requires("MODULE-EXIT-04")
@pytest.mark.parametrize("code", [0, 3])
def test_members_of_the_group_end_with_the_module(case: ModuleCase, code: int) -> None:
    events = case.events()
    words = [quoted(each) for each in (P.orphan, events.path, "--ignore", "TERM")]
    case.module.script("leaves", f"echo 1; exec {' '.join(words)} --exit {code}")
    seen = case.module.execute("leaves", within_s=15)
    expect("outcome of the module", end(seen), "value" if code == 0 else "NonZeroExit")
    expect_none_left(seen, events, orphan=1)
