"""MODULE-PIPE: input and output at the same time, and no other descriptors."""

from __future__ import annotations

import json

import pytest

from boxspec.api import expect, requires
from boxspec.api import programs as P
from contracts.module.client import ModuleCase
from contracts.module.judging import end, noted, quoted
from contracts.shared.signals import expect_the_three_to_act, ignoring

# Far more than any pipe holds.
LARGE = ["0123456789abcdef" * 64] * 2048


@requires("MODULE-PIPE-01")
def test_a_module_that_answers_as_it_reads_is_not_held_up(case: ModuleCase) -> None:
    case.module.script("echoes", "exec cat")
    seen = case.module.execute("echoes", LARGE, within_s=15)
    expect(
        "outcome of the module, and whether the value is whole",
        (end(seen), seen.value == LARGE),
        ("value", True),
    )


@requires("MODULE-PIPE-02")
@pytest.mark.parametrize("body", ["exit 3", "exec <&-; exit 3", "head -c 1 >/dev/null; exit 3"])
def test_unread_input_changes_nothing(case: ModuleCase, body: str) -> None:
    case.module.script("leaves", f"echo sorry >&2; {body}")
    seen = case.module.execute("leaves", LARGE, within_s=15)
    got = (end(seen), seen.field("exit_code"), seen.field("stderr"))
    expect("class, exit_code and stderr", got, ("NonZeroExit", 3, "sorry\n"))


@requires("MODULE-PIPE-02")
def test_a_value_without_reading_is_a_value(case: ModuleCase) -> None:
    case.module.script("answers", "exec <&-; echo 1")
    seen = case.module.execute("answers", LARGE, within_s=15)
    expect("outcome of the module, and the value", (end(seen), seen.value), ("value", 1))


@requires("MODULE-PIPE-03")
def test_a_module_has_only_0_1_and_2(case: ModuleCase) -> None:
    place = case.tmp / "report.json"
    case.module.script("tells", f"exec {quoted(P.report)} {quoted(place)}")
    case.module.execute("tells", LARGE)
    said = json.loads(noted(place))
    expect("the module's descriptors", [each["fd"] for each in said["fds"]], [0, 1, 2])


@requires("MODULE-PIPE-03")
def test_inheritable_descriptors_of_the_caller_are_not_passed_on(case: ModuleCase) -> None:
    place, kept = case.tmp / "report.json", case.tmp / "kept"
    kept.write_text("x")
    case.module.script("tells", f"exec {quoted(P.report)} {quoted(place)}")
    case.module.execute("tells", state=["--leave-open", f"9={kept}"])
    said = json.loads(noted(place))
    expect("the module's descriptors", [each["fd"] for each in said["fds"]], [0, 1, 2])


@requires("MODULE-PIPE-04")
@pytest.mark.parametrize("names", [[], ["INT", "TERM", "PIPE"]], ids=["default", "ignored"])
def test_signals_do_what_they_do_by_default(case: ModuleCase, names: list[str]) -> None:
    place = case.tmp / "report.json"
    case.module.script("tells", f"exec {quoted(P.report)} {quoted(place)}")
    case.module.execute("tells", state=ignoring(*names))
    expect_the_three_to_act(json.loads(noted(place)))
