"""Tests that a baseline excuses only the recorded failures, each for its recorded reason."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from boxspec.cli import baseline as verb
from boxspec.errors import UsageError
from boxspec.judge import baseline as known
from boxspec.judge.baseline import Baseline, BaselineEntry
from boxspec.judge.requirements import load
from boxspec.judge.stable import stable
from boxspec.judge.verdict import HostLacks, NotMeasured, Verdict
from boxspec.report.baseline import render
from contracts.sbpl import mac
from selftest.tools import FAKE, ROOT, boxspec
from selftest.trees import MUST, OTHER_MUST, failed, record, tree

pytestmark = pytest.mark.turns(6)

ON_LINUX = ROOT / "ci" / "known-linux.toml"
TODAY = datetime.date(2026, 5, 1)


def excusing(*entries: BaselineEntry) -> Baseline:
    return Baseline(list(entries), TODAY)


def known_failure(test: str = "one", what: str = "the output", **more: object) -> BaselineEntry:
    return BaselineEntry(MUST, Verdict.FAILS, what, test, **more)  # type: ignore[arg-type]


# Known failures ------------------------------------------------------------------------------


def test_a_failure_that_is_known_is_no_exit_1() -> None:
    records = [record(f"{MUST}/one", failed()), record(OTHER_MUST)]
    assert tree(records).exit_code() == 1
    found = tree(records, baseline=excusing(known_failure()))
    assert (found.exit_code(), found.known, found.of("contract", "MUST")) == (0, 1, (1, 2))


@pytest.mark.parametrize(
    "second",
    [
        record(f"{MUST}/two", failed()),
        record(f"{MUST}/one[other]", failed()),
        record(f"{MUST}/one", failed("its length")),
        record(f"{MUST}/one", failed(verdict=Verdict.ESCAPED)),
    ],
)
def test_a_failure_other_than_the_known_one_is_not_excused(second: object) -> None:
    records = [record(f"{MUST}/one", failed()), second]
    found = tree(records, baseline=excusing(known_failure()))  # type: ignore[arg-type]
    assert (found.exit_code(), found.known) == (1, 0)


def test_an_entry_without_a_test_is_about_each() -> None:
    records = [record(f"{MUST}/{name}", failed()) for name in ("one", "two")]
    found = tree([*records, record(OTHER_MUST)], baseline=excusing(known_failure("")))
    assert found.exit_code() == 0


def test_values_that_differ_between_runs_are_not_part_of_a_reason() -> None:
    said = (
        "'4711 (ppid 12 S) /tmp/boxspec-a1/0002-x/run' at most 216.4, 12.5ms, "
        "2026-11-20T12:00:00.000Z, 0a1b2c3d4e5f, see EXEC-ENV-02 of 8 s"
    )
    assert stable(said) == ("'N (ppid N S) PATH' at most N, Nms, TIME, N, see EXEC-ENV-02 of N s")


def test_the_same_failure_with_other_figures_is_known() -> None:
    one, two = (failed(f"after {n} ms in /tmp/x{n}", str(n)) for n in (17, 230))
    known_as = record(f"{MUST}/one", one).why
    entry = known_failure(what=known_as)
    found = tree([record(f"{MUST}/one", two), record(OTHER_MUST)], baseline=excusing(entry))
    assert found.exit_code() == 0


def test_a_flaky_failure_is_excused_only_for_its_reason() -> None:
    entry = known_failure(until=TODAY, flaky=True)
    for what, code in (("the output", 0), ("its length", 1)):
        records = [record(f"{MUST}/one", failed(what)), record(OTHER_MUST)]
        assert tree(records, baseline=excusing(entry)).exit_code() == code


# Stale entries -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (known_failure(until=TODAY), None),
        (known_failure(until=TODAY - datetime.timedelta(1)), "its date 2026-04-30 has passed"),
        (known_failure("two"), "conforms now"),
        (known_failure("two", until=TODAY, flaky=True), None),
        (known_failure(until=TODAY, flaky=True), None),
        (known_failure(what="its length", until=TODAY, flaky=True), "now fails, the output"),
        (
            known_failure("two", until=TODAY - datetime.timedelta(1), flaky=True),
            "its date 2026-04-30 has passed",
        ),
        (known_failure(what="its length"), "now fails, the output"),
        (known_failure("three"), "unknown test"),
        (BaselineEntry("EXEC-NO-99", Verdict.FAILS, ""), "unknown requirement"),
        (BaselineEntry("EXEC-PATH-01", Verdict.FAILS, ""), None),
    ],
)
def test_an_outdated_entry_is_reported(entry: BaselineEntry, why: str | None) -> None:
    found = tree([record(f"{MUST}/one", failed()), record(f"{MUST}/two")])
    seen = {each.id: each.test_reasons for each in found.judged}
    assert excusing(entry).stale(seen, whole=True) == ([f"{entry.name}: {why}"] if why else [])


def test_a_test_that_was_left_out_is_not_missing() -> None:
    found = tree([record(f"{MUST}/one")])
    seen = {each.id: each.test_reasons for each in found.judged}
    assert excusing(known_failure("three")).stale(seen, whole=False) == []


def test_a_stale_baseline_is_exit_4_on_request() -> None:
    found = tree([record(MUST)], stale=["x"])
    assert (found.exit_code(), found.exit_code(strict=True)) == (0, 4)


# Complete runs -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("why", "code"),
    [
        (HostLacks("sandbox-exec", mac.ABSENT), 0),
        (NotMeasured(mac.ABSENT), 0),
        (NotMeasured("no test of it ran"), 3),
        (None, 0),
    ],
)
def test_a_complete_run_may_lack_requirements_measured_elsewhere(
    why: Exception | None, code: int
) -> None:
    records = [record("SBPL-FORM-01"), record("SBPL-MAC-01", why)]
    found = tree(records, baseline=known.read(ON_LINUX), capabilities=["sbpl"])
    assert found.exit_code(require_complete=True) == code


def test_the_baseline_of_linux_has_measurable_requirements_only() -> None:
    named = [each.requirement for each in known.read(ON_LINUX).entries]
    assert [name for name in named if not load()[name].testable] == []


# The file ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("until", "date"),
    [
        ("2027-01-01", datetime.date(2027, 1, 1)),
        ('"2027-01-01"', datetime.date(2027, 1, 1)),
        ("2027-01-01T10:00:00Z", datetime.date(2027, 1, 1)),
    ],
)
def test_a_date_may_be_text(until: str, date: datetime.date, tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text(
        f'[[known]]\nrequirement = "{MUST}"\nverdict = "fails"\nwhy = ""\nuntil = {until}\n'
    )
    assert [each.until for each in known.read(file).entries] == [date]


ENTRY = f'[[known]]\nrequirement = "{MUST}"\nverdict = "fails"\nwhy = "x"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[known", "is not valid TOML"),
        ("known = 3", r"entries other than \[\[known\]\] tables"),
        ("[other]", r"entries other than \[\[known\]\] tables"),
        ("known = [1]", "entry 1: is not a table"),
        ('[[known]]\nverdict = "fails"\nwhy = ""', "entry 1: `requirement` is missing"),
        (f'{ENTRY}id = "x"', "entry 1: unknown field `id`"),
        (f"{ENTRY}issue = 7", "entry 1: `issue` is not a text"),
        (f"{ENTRY}until = 7", "entry 1: `until` is not a date"),
        (f'{ENTRY}until = "soon"', "entry 1: `until` is not a date"),
        (f"{ENTRY}flaky = true", "entry 1: `flaky` needs an `until`"),
        (f'{ENTRY}flaky = "yes"', "entry 1: `flaky` is neither true nor false"),
        (ENTRY.replace("fails", "bad"), "entry 1: unknown verdict 'bad'"),
        (ENTRY.replace('"fails"', "[]"), "entry 1: `verdict` is not a text"),
        (ENTRY * 2, "entry 2: EXEC-ENV-01 is listed twice"),
    ],
)
def test_a_file_that_is_wrong_is_one_line(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=said) as told:
        known.read(file)
    assert "\n" not in str(told.value)


def test_a_written_baseline_can_be_read(tmp_path: Path) -> None:
    entries = [
        BaselineEntry(
            MUST, Verdict.FAILS, 'a "quote", \\ and é', "test[\\x00]", "https://e/1", TODAY, True
        ),
        BaselineEntry(OTHER_MUST, Verdict.UNPROVEN, "x"),
    ]
    file = tmp_path / "known.toml"
    file.write_text(render([*entries, entries[0]]), encoding="utf-8")
    assert known.read(file).entries == entries


@pytest.mark.parametrize("flaky", [True, False])
def test_a_flaky_requirement_that_conforms_stays_on_the_list(flaky: bool) -> None:
    found = tree([record(f"{MUST}/one"), record(OTHER_MUST)])
    entry = known_failure(until=TODAY, flaky=flaky)
    assert [*verb.kept_entries(excusing(entry), found)] == [entry] * flaky
    late = known_failure(until=TODAY - datetime.timedelta(1), flaky=flaky)
    assert [*verb.kept_entries(excusing(late), found)] == []


# The verb ------------------------------------------------------------------------------------

SELECTION = ("--shim", f"{FAKE} honest", "-k", "childs_sigterm_comes and 150")


@pytest.mark.turns(10)
@pytest.mark.long
def test_a_baseline_that_was_written_excuses_the_next_run(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    assert boxspec("run", *SELECTION).returncode == 1
    done = boxspec("baseline", "--write", file, *SELECTION)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == f"1 known deviation in {file}"
    again = boxspec("run", "--known", file, "--strict", *SELECTION)
    assert "1 known deviation" in again.stdout
    assert again.returncode == 0, again.stdout
    # Fields that a person added to the file must survive an update.
    file.write_text(file.read_text() + 'issue = "https://example.org/1"\nuntil = 2999-01-01\n')
    boxspec("baseline", "--write", file, *SELECTION)
    assert 'issue = "https://example.org/1"\nuntil = 2999-01-01\n' in file.read_text()
