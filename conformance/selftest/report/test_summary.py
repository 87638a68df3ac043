"""Tests of the console output of a run: each symptom once, in order, and without active control
characters."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from boxspec.judge.expect import expect
from boxspec.judge.record import Record
from boxspec.judge.requirement_verdicts import judge_requirements
from boxspec.judge.requirements import load
from boxspec.judge.verdict import (
    Blocked,
    Declared,
    Failure,
    NotApplicable,
    NotMeasured,
    Verdict,
)
from boxspec.report import details, summary
from boxspec.report.console import Console
from boxspec.report.ran import ran
from boxspec.subject.death import died
from boxspec.subject.observe.warden import Exit
from boxspec.subject.transcript import shown_request
from selftest.report.console_text import console_text, quiet_text
from selftest.trees import CAPPED, HARDENED, MUST, OTHER_MUST, SHOULD, failed, record, tree

SIX = [
    each.id
    for each in load().values()
    if (each.level, each.profile, each.contract) == ("MUST", "contract", "exec")
    and each.capability is None
][:6]
AREA_LINES = ("area  ", "files ", "networ", "launch")
TWELVE = [name for name, each in load().items() if each.contract == "exec"][:12]


def blocks(text: str) -> list[str]:
    return re.findall(r"^(?:FAIL|ESCAPED) (\S+)", text.partition("\nFAIL  ")[0], re.M)


def full_blocks(text: str) -> list[str]:
    return re.findall(r"^(\S+) \(\w+, \w+\).*:", text, re.M)


def test_failures_without_room_for_a_block_have_a_line_each() -> None:
    found = tree([record(name, failed(f"part {name}")) for name in [*SIX, HARDENED]])
    text = console_text(found)
    assert blocks(text) == SIX[:1]
    for name in (*SIX[1:], HARDENED):
        assert f"     {name}  part {name}\n" in text
    assert full_blocks(console_text(found, verbose=True)) == [*SIX, HARDENED]


def test_many_failures_fit_on_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    found = tree([record(name, failed(f"part {name} " + "of it " * 50)) for name in TWELVE])
    text = console_text(found)
    assert len(text.splitlines()) <= 1 + summary.SCREEN  # the line `judging` comes before
    assert re.search(r"\n     … \d more\n", text)


def test_many_failures_of_all_contracts_fit_on_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    first: dict[str, list[str]] = {}
    for each in load().values():
        first.setdefault(each.contract, []).append(each.id)
    every = [name for names in first.values() for name in names[:2]]
    found = tree([record(name, failed(f"part {name}")) for name in every])
    found.chosen = {name: ("one", ["another"]) for name in ("backend", "exec", "policy", "module")}
    text = console_text(found)
    assert len(text.splitlines()) <= 1 + summary.SCREEN
    assert re.search(r"\nalso failed: \d+ requirements, probably for \d+ causes ", text)


def test_a_line_of_many_requirements_names_the_first_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    found = tree([record(name, failed(symptom="s")) for name in SIX])
    others = " ".join(SIX[1:4])
    assert f"\n     {others} and 2 more  as {SIX[0]}\n" in console_text(found)


def test_large_folders_of_failed_tests_have_a_line(tmp_path: Path) -> None:
    found = tree([record(SIX[0], failed("part"))])
    found.records[0].folder = str(tmp_path)
    assert "kept 1 folder" not in console_text(found)
    (tmp_path / "output").write_bytes(b"x" * (11 << 20))
    assert "kept 1 folder of failed tests, 11 MiB" in console_text(found)


def test_a_requirement_has_one_block() -> None:
    found = tree([record(MUST, failed("one")), record(MUST, failed("two"))])
    assert blocks(console_text(found)) == [MUST]
    assert full_blocks(console_text(found, verbose=True)) == [MUST, MUST]


def test_a_block_says_what_ran_what_was_expected_and_how_to_repeat_it() -> None:
    made = record(MUST, failed("the output of `sh`", "b"))
    made.request = '{"op": "exec.run", "request": {"program": "/bin/sh", "args": ["-c", "true"]}}'
    text = console_text(tree([made]))
    clause = load()[MUST].clause
    assert text.partition("FAIL ")[2].startswith(f"{MUST} required  {clause[:20]}")
    assert re.findall(r"^     (\w+) +(.*)$", text, re.M)[:5] == [
        ("ran", "exec.run /bin/sh -c true"),
        ("checked", "the output of `sh`"),
        ("expected", "a"),
        ("actual", "b"),
        ("repeat", f"./ci/boxspec repro --shim ./shim {MUST}"),
    ]


@pytest.mark.parametrize(
    ("request_", "shown"),
    [
        (None, "no request was sent"),
        (
            '{"op": "policy.check", "path_b64": "YQD/", "policy": {"n": 1}}',
            "policy.check, path 'a\\x00\\xff', policy (n 1)",
        ),
        (
            '{"op": "exec.run", "request":'
            ' {"program": "/k/fixtures/programs/emit", "args": ["a b"]}}',
            "exec.run emit 'a b'",
        ),
        (
            '{"op": "exec.run", "request":'
            ' {"program": "/c/boxspec/programs-0a1b2c3d-4e5f6a7b/emit"}}',
            "exec.run emit",
        ),
        (
            '{"op": "backend.run", "backend": "b", "context": {"root": "/r", "profile": "p"},'
            ' "calls": [{"request": {"program": "/x"}}, {}]}',
            "backend.run /x, backend b, further calls 1, profile p",
        ),
        ('{"op": "x", "cut', '{"op": "x", "cut'),
    ],
)
def test_a_request_is_shown_as_its_program_and_fields(request_: str | None, shown: str) -> None:
    assert ran(request_) == shown


def test_a_quiet_run_prints_only_failures_and_the_verdict() -> None:
    text = quiet_text(tree([record(MUST, failed("the output", "b"))]))
    assert [line.split()[0] for line in text.splitlines() if line] == [
        *("FAIL", "ran", "checked", "expected", "actual", "repeat"),
        "FAIL",
    ]


def test_colours_can_be_forced() -> None:
    assert Console(io.StringIO(), color="always").colour
    assert not Console(io.StringIO()).colour


def test_a_difference_replaces_the_two_values() -> None:
    with pytest.raises(Failure) as why:
        expect("three facts", (1, True, "x"), (1, True, "y"))
    text = console_text(tree([record(MUST, why.value)]))
    assert "     differs   part 3 of 3: expected 'y', actual 'x'\n" in text
    assert "     expected" not in text
    assert "1, true, 'y'" in console_text(tree([record(MUST, why.value)]), verbose=True)


def test_the_failure_that_blocks_most_others_comes_first_with_a_hint() -> None:
    blocked = [record(name, Blocked([OTHER_MUST], "it is")) for name in (SHOULD, HARDENED)]
    found = tree([record(MUST, failed("one")), record(OTHER_MUST, failed("two")), *blocked])
    text = console_text(found)
    assert blocks(text) == [OTHER_MUST, MUST]
    assert f"     blocks    2 others: {SHOULD} {HARDENED}\n" in text
    assert f"exit 1 · start with {OTHER_MUST}: it blocks 2 others\n" in text
    assert f"\nnext: ./ci/boxspec explain {OTHER_MUST}" in text


def test_the_hint_names_the_failure_of_the_next_command() -> None:
    lacks = record(SHOULD, Blocked([HARDENED], "it is"))
    text = console_text(tree([record(MUST, failed()), record(HARDENED, failed("two")), lacks]))
    assert "· start with" not in text
    assert f"\nnext: ./ci/boxspec explain {MUST}" in text


def test_a_path_of_a_case_is_not_shortened() -> None:
    folder = "/dev/shm/boxspec-11722-1432195-4026531836-pljfowc5/71329384"
    asked = {
        "op": "exec.run",
        "request": {"program": f"{folder}/run-1/events", "args": ["x" * 700]},
    }
    assert ran(shown_request(asked)).startswith("exec.run ./run-1/events 'xxx")


def test_one_blocked_requirement_is_named_in_the_singular() -> None:
    found = tree([record(MUST, failed("one")), record(SHOULD, Blocked([MUST], "it is"))])
    assert f"     blocks    1 other: {SHOULD}\n" in console_text(found)


def test_a_reason_is_shown_without_a_duration_that_differs_from_run_to_run() -> None:
    why = NotMeasured("the test itself read nothing for 120 ms")
    text = console_text(tree([record(HARDENED, why)]))
    assert "1 not tested here (-v): because the test itself read nothing\n" in text


def test_twelve_failures_fit_on_a_page() -> None:
    found = tree([record(name, failed(f"part {name}")) for name in TWELVE])
    assert len(console_text(found).splitlines()) <= 40


@pytest.mark.parametrize("columns", [60, 100])
def test_no_word_is_cut(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    long = "a sentence of several words about " + "x" * 90
    found = tree([record(name, failed(f"{long} {name}", long)) for name in TWELVE])
    found.chosen = {"exec": ("one", ["another"] * 9)}
    text = console_text(found)
    assert text.count("x" * 90) >= summary.BLOCKS - 1
    assert not re.search(r"\bx{1,89}\b|\bx{91}", text)
    lines = [line for line in text.splitlines() if "repeat" not in line and "next:" not in line]
    assert all(len(line) <= columns or "x" * 90 in line for line in lines)


def test_a_huge_row_is_shortened_with_the_command_that_shows_it_whole() -> None:
    wrong = record(MUST, failed("one", "y" * 9000))
    wrong.request = shown_request({"op": "exec.run", "request": {"program": "x" * 5000}})
    text = console_text(tree([wrong]))
    assert max(len(line) for line in text.splitlines() if "repeat" not in line) <= 100
    assert re.search(r"^     ran       exec.run\s+'x{60}…\s+\(4,940\s+more\)'$", text, re.M), text
    assert re.search(r"y…\(8,9\d\d more\)…y", text), text
    assert "\n     shortened the next command shows the whole text\n     repeat " in text
    everything = console_text(tree([wrong]), verbose=True)
    assert max(map(len, everything.splitlines())) < 4100
    assert "characters, see --json" in everything
    assert "shortened" not in console_text(tree([record(MUST, failed("one"))]))


def test_a_table_counts_by_contract_and_kind() -> None:
    records = [record(MUST), record(OTHER_MUST, failed()), record(HARDENED), record(SHOULD)]
    records += [record(CAPPED, NotApplicable.without("exec.cap"))]
    text = console_text(tree(records))
    head, row = re.findall(r"^(?:contract|exec) .*$", text, re.M)
    assert head.split() == ["contract", "required", "hardened", "recommended"]
    assert row.split()[:4] == ["exec", "1/2", "1/1", "1/1"]
    assert row.endswith("   1 not declared")


def test_escapes_of_an_aspect_that_is_not_claimed_take_one_line() -> None:
    escapes = [Declared("network", "partial", f"probe {number}: done") for number in range(3)]
    found = tree([record(MUST, why) for why in escapes])
    assert (
        "not judged: network is claimed in part only; 3 attempts succeeded (-v)\n"
        in console_text(found)
    )
    assert "probe 2: done" in console_text(found, verbose=True)


def test_a_run_of_sandboxes_has_a_table_by_area() -> None:
    records = [
        record("BACKEND-WRITE-01"),
        record("BACKEND-META-01", Declared("fs-metadata", "partial", "a mode is changed")),
        record("BACKEND-NET-01", failed(verdict=Verdict.CONTRADICTION)),
        record("BACKEND-LAUNCH-01", NotMeasured("late")),
    ]
    claims = {"fs-write": "fully", "fs-metadata": "partial", "network": "fully"}
    found = tree(records, capabilities=("backend",), claims={"backend": claims})
    text = console_text(found)
    table = [re.split("  +", line) for line in text.splitlines() if line[:6] in AREA_LINES]
    assert table == [
        ["area", "claims", "held", "escaped", "not claimed", "not tested"],
        ["files", "partly", "1", "-", "1", "-"],
        ["network", "fully", "-", "1", "-", "-"],
        ["launch", "fully", "-", "-", "-", "1"],
    ]
    assert "\nnot judged: 1 attempt that no claim covers succeeded (-v); tell your users" in text
    assert "ESCAPED BACKEND-NET-01 required" in text


def test_the_first_two_lines_name_the_kit_the_host_and_the_implementation() -> None:
    out = io.StringIO()
    shown = Console(out)
    shown.header()
    hello = {
        "implementation": {"name": "mine", "version": "2", "language": "Go"},
        "capabilities": ["exec", "exec.cap", "policy"],
    }
    for _ in range(2):
        shown.judging(hello, ["./shim"], default=False)
    first, second = out.getvalue().splitlines()
    assert re.fullmatch(r"boxspec \S+, spec 1\.0 · .* CPUs, (not )?root", first)
    assert second == "judging mine 2 (Go) · implements exec, policy"


def test_causes_of_the_exit_status_come_first() -> None:
    found = tree([record(name, failed(name)) for name in (SHOULD, HARDENED, MUST)])
    text = console_text(found)
    assert blocks(text) == [MUST, HARDENED]
    assert f"\n     {SHOULD}  {SHOULD}\n" in text


def test_a_conforming_requirement_shows_how_many_of_its_tests_did_not_run() -> None:
    lacking = [record(MUST, NotApplicable.without("exec.bytes")) for _ in range(2)]
    found = tree([record(MUST), *lacking])
    line = f"conforms  {MUST}: 2 of its 3 tests not run: the shim does not declare exec.bytes\n"
    assert line in console_text(found, verbose=True)
    assert line not in console_text(found)


def test_failures_with_one_symptom_are_one_block_and_a_list() -> None:
    ends = [died(Exit("killed", number, 0), {}, [number]) for number in (2, 15)]
    records = [record(MUST, ends[0]), record(OTHER_MUST, ends[1]), record(SHOULD, failed())]
    text = console_text(tree(records))
    assert blocks(text) == [MUST, SHOULD]
    assert f"     {OTHER_MUST}  as {MUST}\n" in text


@pytest.mark.parametrize(
    ("one", "two", "alike"),
    [
        (failed("x", "4711 in /tmp/a"), failed("x", "2 in /tmp/b"), False),
        (failed("x", "4711 in /tmp/a"), failed("x", "4712 in /tmp/b"), True),
        (failed("x", "exit 3"), failed("x", "exit 4"), False),
        (failed("x", "exit 3"), failed("y", "exit 3"), False),
        (failed("x"), failed("x", verdict=Verdict.ESCAPED), False),
        (failed("x", symptom="s"), failed("y", symptom="s"), True),
    ],
)
def test_a_symptom_has_the_judged_value_and_the_result(
    one: Exception, two: Exception, alike: bool
) -> None:
    text = console_text(tree([record(MUST, one), record(OTHER_MUST, two)]))
    assert len(blocks(text)) == (1 if alike else 2)


def test_the_number_of_failed_tests_and_vectors_is_shown() -> None:
    """The numbers say whether all inputs of a requirement fail or only some, and whether they fail
    each time."""
    records = [
        record(f"{MUST}/one", failed(cases=(3, 40))),
        record(f"{MUST}/two"),
        record(OTHER_MUST, failed("all", cases=(5, 5))),
    ]
    text = console_text(tree(records))
    assert "     checked   the output (1 of 2 tests fail, 3 of 40 questions)\n" in text
    assert "     checked   all\n" in text
    full = console_text(tree(records), verbose=True)
    assert "::one (1 of 2 tests fail, 3 of 40 questions)\n" in full


def test_undecided_requirements_take_one_line() -> None:
    records = [
        record(MUST, failed()),
        record(OTHER_MUST, Blocked([MUST], "it is")),
        record(SHOULD, Blocked([MUST], "it is")),
        record(HARDENED, NotMeasured("late")),
        record(CAPPED, NotApplicable.without("exec.cap")),
    ]
    text = console_text(tree(records), verbose=True)
    assert f"blocked by {MUST}: {OTHER_MUST} {SHOULD}\n" in text
    assert f"not tested  {HARDENED}: late\n" in text
    assert f"not applicable, without exec.cap: {CAPPED}\n" in text


@pytest.mark.parametrize("contract", ["exec", "policy"])
def test_many_tests_that_did_not_run_are_counted(contract: str) -> None:
    several = [
        name
        for name, each in load().items()
        if each.contract == contract and each.capability is None
    ]
    for count, lines in ((details.LISTED, details.LISTED), (details.LISTED + 1, 0)):
        found = tree([record(MUST)])
        selected = {name: load()[name] for name in several[-count:]}
        found.judged += judge_requirements([], selected, ("exec", "policy"), None)
        text = console_text(found, verbose=True)
        assert len(re.findall(r"^not tested  .*: no test of it ran$", text, re.M)) == lines
        each = f"not tested, no test ran: {contract} {count}\n"
        assert (each in text) == (lines == 0)


def test_the_reason_for_not_applicable_is_shown_verbatim() -> None:
    text = console_text(tree([record(MUST, NotApplicable("hello names no backend"))]), verbose=True)
    assert f"not applicable, hello names no backend: {MUST}\n" in text


@pytest.mark.parametrize(
    ("records", "more", "words"),
    [
        ([record(MUST)], {}, "PASS  1 of 1 required · exit 0"),
        ([record(MUST)], {"narrowed": True}, "PASS  1 of 1 required · exit 0"),
        (
            [record(MUST), record(HARDENED, failed()), record(SHOULD, failed())],
            {"narrowed": True},
            "PASS  1 of 1 required · fails 1 hardened, 1 recommended · exit 0",
        ),
        ([record(MUST, failed())], {}, "FAIL  1 required fails · exit 1"),
        (
            [record(SHOULD, failed())],
            {"asked": [SHOULD]},
            "FAIL  1 recommended fails · exit 1",
        ),
        (
            [record(MUST, NotMeasured("late"))],
            {},
            "INCOMPLETE  no MUST of exec was decided · exit 3",
        ),
        (
            [record(MUST, RuntimeError("x"))],
            {},
            "NO VERDICT  internal error in 1 test · exit 2",
        ),
    ],
)
def test_the_last_two_lines_are_the_verdict_and_what_to_do_next(
    records: Sequence[Record], more: dict[str, object], words: str
) -> None:
    *_, verdict, last = console_text(tree(records, **more)).splitlines()  # type: ignore[arg-type]
    assert verdict == words
    assert last.startswith("next: ")


@pytest.mark.parametrize(
    ("records", "more", "words"),
    [
        ([record(MUST)], {}, "run --shim ./shim --html report.html"),
        ([record(MUST)], {"asked": [MUST]}, "run --shim ./shim"),
        ([record(MUST, failed())], {"asked": [MUST]}, f"explain {MUST}"),
    ],
)
def test_the_next_command_is_complete_and_differs_from_that_of_repro(
    records: Sequence[Record], more: dict[str, object], words: str
) -> None:
    text = console_text(tree(records, **more), verbose=True)  # type: ignore[arg-type]
    assert text.splitlines()[-1] == f"next: ./ci/boxspec {words}"
