"""Tests of the differences between two results, and of the date on which a requirement began to
fail."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from boxspec.judge.verdict import NotMeasured, Verdict
from boxspec.report import diff, history
from boxspec.report import json as json_report
from boxspec.report.result import Result
from selftest.report.made_results import HOSTILE, made
from selftest.tools import boxspec
from selftest.trees import HARDENED, MUST, OTHER_MUST, SHOULD, failed

NOW = "2026-11-20T10:00:00Z"


def of(blamed: Mapping[str, BaseException] | None = None, started: str = NOW) -> Result:
    return made(only="exec", tests=2, blamed=blamed or {}, started=started)


def changes(old: Result, new: Result) -> dict[str, list[str]]:
    found = diff.compare(old, new).kinds()
    return {kind: [each.id for each in mine] for kind, mine in found.items() if mine}


def test_two_equal_results_have_no_difference() -> None:
    one = of({MUST: failed("pid 4711 of /tmp/a")})
    two = of({MUST: failed("pid 99 of /var/tmp/b/c")})
    assert changes(one, two) == {}


def test_new_passes_are_fixed_and_new_failures_are_broken() -> None:
    old, new = of({MUST: failed()}), of({SHOULD: failed()})
    assert changes(old, new) == {"fixed": [MUST], "broken": [SHOULD]}


def test_another_reason_or_another_verdict_is_a_change() -> None:
    old = of({MUST: failed(), HARDENED: failed(), SHOULD: failed()})
    new = of(
        {
            MUST: failed("its length"),
            HARDENED: failed(verdict=Verdict.ESCAPED),
            SHOULD: NotMeasured("nobody looked"),
        }
    )
    assert sorted(changes(old, new)["changed"]) == sorted([MUST, HARDENED, SHOULD])


def test_a_requirement_that_one_has_not_appeared_or_is_gone() -> None:
    both = of()
    plain = {**both.plain}
    plain["requirements"] = [each for each in plain["requirements"] if each["id"] != MUST]
    assert changes(Result.of(plain), both) == {"appeared": [MUST]}
    assert changes(both, Result.of(plain)) == {"gone": [MUST]}
    new = of({MUST: failed()})
    assert changes(Result.of(plain), new) == {"broken": [MUST]}


def written(folder: Path, name: str, result: Result) -> Path:
    path = folder / name
    path.write_text(json_report.render(result.plain))
    return path


def test_the_exit_status_is_1_if_a_requirement_broke(tmp_path: Path) -> None:
    good, bad = (
        written(tmp_path, "good.json", of()),
        written(tmp_path, "bad.json", of({MUST: failed(HOSTILE)})),
    )
    broke = boxspec("diff", good, bad, "--md", tmp_path / "diff.md", "--json", tmp_path / "d.json")
    assert broke.returncode == 1, broke.stderr
    assert f"broken    {MUST}  conforms -> fails" in broke.stdout
    assert broke.stdout.splitlines()[-1] == "broken 1 · fixed 0 · changed 0 · appeared 0 · gone 0"
    assert "\x1b" not in broke.stdout
    assert "<script" not in (tmp_path / "diff.md").read_text()
    fixed = boxspec("diff", bad, good)
    assert (fixed.returncode, f"fixed     {MUST}" in fixed.stdout) == (0, True)
    assert boxspec("diff", good, good).returncode == 0


def test_results_of_other_contracts_are_refused(tmp_path: Path) -> None:
    one = written(tmp_path, "exec.json", of())
    two = written(tmp_path, "sbpl.json", made(only="sbpl", blamed={}))
    done = boxspec("diff", one, two)
    assert done.returncode == 2
    assert "compare two results of the same contract" in done.stderr


# Since when ----------------------------------------------------------------------------------

DAYS = ("2026-11-01T10:00:00Z", "2026-11-05T10:00:00Z", "2026-11-09T10:00:00Z")


def since(*broken: bool) -> str:
    """Return the text about a failing result after earlier results, the oldest first; each says
    whether the requirement failed."""
    past = [
        of({MUST: failed()} if bad else {}, day) for day, bad in zip(DAYS, broken, strict=False)
    ]
    now = of({MUST: failed()})
    return history.since(MUST, now, history.before(now, past))


@pytest.mark.parametrize(
    ("broken", "first", "conformed"),
    [
        ((False, False, False), NOW, DAYS[2]),
        ((False, True, True), DAYS[1], DAYS[0]),
        ((True, False, True), DAYS[2], DAYS[1]),
    ],
)
def test_it_fails_since_the_first_of_the_results_in_a_row(
    broken: tuple[bool, ...], first: str, conformed: str
) -> None:
    assert since(*broken) == f"since {first} (made 1.0); conforms on {conformed} (made 1.0)"


def test_without_earlier_results_no_date_is_given() -> None:
    assert since() == ""
    assert since(True).endswith("the first result that is given")
    now = of()
    assert history.since(MUST, now, [of({MUST: failed()}, DAYS[0])]) == ""
    assert OTHER_MUST in now.requirements


def test_results_of_other_implementations_and_later_ones_are_ignored() -> None:
    now = of({MUST: failed()})
    others = [made("other", only="exec", blamed={}), of(started="2026-12-01T10:00:00Z")]
    assert history.before(now, others) == []
