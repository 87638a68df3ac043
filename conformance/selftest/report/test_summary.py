"""The console output of a run: each symptom once, in order, and without active control
characters."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Sequence
from typing import Any

import pytest

from boxspec.judge.record import Record
from boxspec.judge.repro import RunFlags
from boxspec.judge.requirement_verdicts import judge_requirements
from boxspec.judge.requirements import load
from boxspec.judge.results import ResultTree
from boxspec.judge.verdict import Blocked, NotApplicable, NotMeasured, Verdict
from boxspec.printable import one_line
from boxspec.report import console, progress, summary
from boxspec.report.console import Console, Progress
from boxspec.subject.death import died
from boxspec.subject.observe.warden import Exit
from selftest.trees import CAPPED, HARDENED, MUST, OTHER_MUST, SHOULD, failed, record, tree

SIX = [
    each.id
    for each in load().values()
    if (each.level, each.profile, each.contract) == ("MUST", "contract", "exec")
    and each.capability is None
][:6]


def told(found: ResultTree, *, verbose: bool = False) -> str:
    out = io.StringIO()
    shown = Console(out, verbose=verbose)
    summary.print_summary(shown, found)
    status = found.exit_code()
    words = summary.verdict(found, status, found.incomplete(False))
    summary.close(shown, found, words, status)
    return out.getvalue()


def blocks(text: str) -> list[str]:
    return re.findall(r"^(\S+) \(\w+, \w+\).*:", text, re.M)


def test_five_failures_are_shown_in_full_and_of_each_other_a_line() -> None:
    found = tree([record(name, failed(f"part {name}")) for name in [*SIX, HARDENED]])
    text = told(found)
    assert blocks(text) == SIX[:5]
    further = text.partition("2 further failures, one line each (-v: in full)\n")[2]
    assert further.startswith(f"  {SIX[5]} fails: part {SIX[5]}: expected a, got b (1 of 1 tests")
    assert f"failed 7: {' '.join([*SIX, HARDENED])}" in text
    assert blocks(told(found, verbose=True)) == [*SIX, HARDENED]


def test_causes_of_the_exit_status_come_first() -> None:
    found = tree([record(name, failed(name)) for name in (SHOULD, HARDENED, MUST)])
    assert blocks(told(found)) == [MUST, HARDENED, SHOULD]


@pytest.mark.parametrize(("named", "lines"), [(None, 1), ("second", 0)])
def test_an_escape_names_the_backend_if_no_option_did(named: str | None, lines: int) -> None:
    hello: dict[str, Any] = {"backends": {"first": {}, "second\x1b": {}}}
    found = tree([record(MUST, escaped="a write")], hello=hello, how=RunFlags("./shim", named))
    text = told(found)
    assert f"escaped as declared  {MUST}: a write\n" in text
    wanted = (
        "backend   the shim's first that confines; --backend NAME for another of first, second\\x1b"
    )
    assert text.count(wanted) == lines


def test_a_conforming_requirement_shows_how_many_of_its_tests_did_not_run() -> None:
    lacking = [record(MUST, NotApplicable.without("exec.bytes")) for _ in range(2)]
    found = tree([record(MUST), *lacking])
    line = f"conforms  {MUST}: 2 of its 3 tests not run: the shim does not declare exec.bytes\n"
    assert line in told(found)


def test_failures_with_one_symptom_are_one_block_and_a_list() -> None:
    ends = [died(Exit("killed", number, 0), {}, [number]) for number in (2, 15)]
    records = [record(MUST, ends[0]), record(OTHER_MUST, ends[1]), record(SHOULD, failed())]
    text = told(tree(records))
    assert blocks(text) == [MUST, SHOULD]
    assert f"  same in   {OTHER_MUST}\n" in text


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
    text = told(tree([record(MUST, one), record(OTHER_MUST, two)]))
    assert len(blocks(text)) == (1 if alike else 2)


def test_the_number_of_failed_tests_and_vectors_is_shown() -> None:
    """The numbers tell whether all inputs of a requirement fail or only some, or only sometimes."""
    records = [
        record(f"{MUST}/one", failed(cases=(3, 40))),
        record(f"{MUST}/two"),
        record(OTHER_MUST, failed("all", cases=(5, 5))),
    ]
    text = told(tree(records))
    assert f"partly    {MUST} (1 of 2 tests fail, 3 of 40 questions)\n" in text
    assert "::one (1 of 2 tests fail, 3 of 40 questions)\n" in text


def test_undecided_requirements_take_one_line() -> None:
    records = [
        record(MUST, failed()),
        record(OTHER_MUST, Blocked([MUST], "it is")),
        record(SHOULD, Blocked([MUST], "it is")),
        record(HARDENED, NotMeasured("late")),
        record(CAPPED, NotApplicable.without("exec.cap")),
    ]
    text = told(tree(records))
    assert f"blocked by {MUST}: {OTHER_MUST} {SHOULD}\n" in text
    assert f"not measured  {HARDENED}: late\n" in text
    assert f"not applicable, without exec.cap: {CAPPED}\n" in text


@pytest.mark.parametrize("contract", ["exec", "policy"])
def test_many_tests_that_did_not_run_are_counted(contract: str) -> None:
    several = [
        name
        for name, each in load().items()
        if each.contract == contract and each.capability is None
    ]
    for count, lines in ((summary.BLOCKS, summary.BLOCKS), (summary.BLOCKS + 1, 0)):
        found = tree([record(MUST)])
        selected = {name: load()[name] for name in several[-count:]}
        found.judged += judge_requirements([], selected, ("exec", "policy"), None)
        text = told(found)
        assert len(re.findall(r"^not measured  .*: no test of it ran$", text, re.M)) == lines
        each = f"not measured, no test ran: {contract} {count}\n"
        assert (each in text) == (lines == 0)


def test_the_reason_for_not_applicable_is_shown_verbatim() -> None:
    text = told(tree([record(MUST, NotApplicable("hello names no backend"))]))
    assert f"not applicable, hello names no backend: {MUST}\n" in text


@pytest.mark.parametrize(
    ("records", "more", "words"),
    [
        ([record(MUST)], {}, "conforms to each contract MUST · exit status 0"),
        ([record(MUST)], {"narrowed": True}, "conforms · exit status 0"),
        (
            [record(MUST), record(HARDENED, failed()), record(SHOULD, failed())],
            {"narrowed": True},
            "conforms to each contract MUST, and fails 2 other requirements · exit status 0",
        ),
        ([record(MUST, failed())], {}, "does not conform: breaks 1 contract MUST · exit status 1"),
        (
            [record(SHOULD, failed())],
            {"asked": [SHOULD]},
            f"does not conform: {SHOULD} · exit status 1",
        ),
        (
            [record(MUST, NotMeasured("late"))],
            {},
            "incomplete: no MUST of exec was decided · exit status 3",
        ),
        (
            [record(MUST, RuntimeError("x"))],
            {},
            "no verdict: internal error in 1 test · exit status 2",
        ),
    ],
)
def test_the_last_two_lines_are_the_verdict_and_the_denominators(
    records: Sequence[Record], more: dict[str, object], words: str
) -> None:
    found = tree(records, **more)  # type: ignore[arg-type]
    out = io.StringIO()
    status = found.exit_code()
    said = summary.verdict(found, status, found.incomplete(False))
    summary.close(Console(out), found, f"{said} · exit status {status}", status)
    *_, verdict, last = out.getvalue().splitlines()
    assert verdict == words
    assert re.fullmatch(
        r"contract MUST \d+/\d+.* · hardened MUST \d+/\d+.* · not measured \d+"
        r" · not applicable \d+ · known \d+",
        last,
    )


# Texts of a shim -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("plain, é, 漢字, 🎉", "plain, é, 漢字, 🎉"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\x1b[31mred\x9b0m", "\\x1b[31mred\\x9b0m"),
        ("\u202egnp\u2028\ufeff\udce9", "\\u202egnp\\u2028\\ufeff\\udce9"),
        ("::error::no", "\\::error::no"),
        ("  ::set-output::", "  \\::set-output::"),
        ("x ##[error]y ##vso[a]", "x #\\#[error]y #\\#vso[a]"),
    ],
)
def test_control_characters_are_shown_escaped(said: str, shown: str) -> None:
    assert one_line(said) == shown == one_line(shown)


def test_no_line_of_a_block_is_the_shims() -> None:
    evil = "x\n::error::forged\x1b[2J\rok"
    why = failed(evil, evil, evidence={evil: [evil], "shim stderr": f"one\n{evil}"})
    made = record(MUST, why)
    made.request = evil
    found = tree([made], hello={"implementation": {"name": evil, "version": evil}})
    text = told(found)
    assert "\x1b" not in text
    assert "\r" not in text
    assert not re.search(r"^\s*::", text, re.M)


# A shim that died ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "number", "sent", "got", "judged"),
    [
        ("exited", 3, [], "the shim exited 3 without", "the shim keeps to the protocol"),
        ("killed", 11, [], "died of SIGSEGV", "the shim lives until it has answered"),
        ("killed", 9, [15], "died of SIGKILL", "the shim lives until it has answered"),
        (
            "killed",
            15,
            [15],
            "died of SIGTERM, sent by the test, for which it had no handler",
            "the caller of a run survives its signals",
        ),
        (
            "killed",
            2,
            [],
            "died of SIGINT, for which it had no handler",
            "the caller of a run survives its signals",
        ),
    ],
)
def test_a_death_without_a_response_names_the_signal(
    how: str, number: int, sent: list[int], got: str, judged: str
) -> None:
    made = record(MUST, died(Exit(how, number, 0), {}, sent))
    assert got in made.got
    assert made.what == judged


# Progress ------------------------------------------------------------------------------------


def test_without_a_terminal_there_is_a_line_every_so_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(console, "LINES_S", 0.01)
    out = io.StringIO()
    progress = Progress(Console(out), lambda: "3/8")
    limit = time.monotonic() + 20
    while out.getvalue().count("\n") < 2 and time.monotonic() < limit:
        time.sleep(0.005)
    progress.close()
    assert set(out.getvalue().splitlines()) == {"3/8"}
    assert out.getvalue().count("\n") >= 2


def test_the_progress_line_does_not_report_a_closed_pipe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(console, "LINES_S", 0.001)
    out = io.StringIO()
    out.close()
    progress = Progress(Console(io.StringIO()), lambda: "3/8")
    progress._console.out = out
    progress._thread.join(20)
    assert not progress._thread.is_alive()
    progress.close()


def test_the_expected_time_follows_the_last_half_minute() -> None:
    run = progress.Pace.of([None] * 100 + [20.0, 5.0], at_once=32)
    assert run.expected_s(1.0, 0) is None
    assert run.expected_s(10.0, 10) == 100.0
    assert run.expected_s(20.0, 50) == 40.0
    # Ten seconds without a result lower the expected speed, which is that of the last half minute.
    assert run.expected_s(45.0, 50) == pytest.approx(45 + 50 / (40 / 35))
    assert run.expected_s(46.0, 100) == 46.0


def test_the_estimate_includes_the_longest_running_test() -> None:
    run = progress.Pace.of([None, None, 30.0], at_once=32)
    assert run.expected_s(2.0, 2) == 30.0
    assert progress.Pace.of([10.0] * 8, at_once=2).expected_s(1.0, 0) == 40.0


def test_the_live_line_shows_the_progress() -> None:
    assert progress.progress(3, 8, 12.4, 55.0, 1) == "3/8 · 12 s of about 55 s · 1 not conforming"
    assert progress.progress(3, 8, 12.4, None, 0) == "3/8 · 12 s"
    again = progress.progress(8, 8, 12.4, 48820.0, 0, "test_it[a]")
    assert again == "8/8 · 12 s · re-running test_it[a] with no other test"
