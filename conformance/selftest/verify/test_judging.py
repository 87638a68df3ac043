"""Tests of verdicts on results that are made up."""

from __future__ import annotations

from dataclasses import replace

from boxspec.subject.observe.probes import ProbeResult
from boxspec.verify.judging import verdicts
from boxspec.verify.outcome import Both, Outcome, Tried
from boxspec.verify.row import DEFAULT, Record, Row, Status

READ = Row("a", "read a file", 2, DEFAULT, ())
PLANTED = Row("planted", "plant files", 1, DEFAULT, (), planted=True)
WITNESS = Row("witness", "write outside", 0, DEFAULT, ())
DONE, REFUSED = ProbeResult(outcome="did"), ProbeResult(outcome="refused")
OTHER = Both(Outcome(), Outcome())


def tried(result: ProbeResult, *effects: str, way: str = "") -> Tried:
    return Tried("an attempt", [*effects], way, Record("exited 0", result))


def start(**rows: Tried) -> Outcome:
    return Outcome({(row, 0): each for row, each in rows.items()}, ran=True)


FREE = start(a=tried(DONE, "read"), witness=tried(DONE, "written"), planted=tried(DONE, "run"))
CONFINED = start(a=tried(REFUSED), witness=tried(REFUSED), planted=tried(DONE))
# The first start. The start after planting has no attempts of the row `a`.
FIRST = {"a": Both(FREE, CONFINED), "witness": Both(FREE, CONFINED)}


def statuses(planted: Outcome, absent: Both = OTHER) -> list[Status]:
    probes = {**FIRST, "planted": Both(FREE, planted)}
    found = verdicts([READ, PLANTED], probes, OTHER, absent, [WITNESS])
    return [{each.row.id: each.status for each in found}[name] for name in ("a", "planted")]


def test_a_start_that_is_confined_like_the_first_one_is_held() -> None:
    assert statuses(CONFINED, Both(FREE, CONFINED)) == [Status.HELD, Status.HELD]


def test_files_that_turn_the_sandbox_off_are_a_leak() -> None:
    off = start(planted=tried(DONE), witness=tried(DONE, "written"))
    assert statuses(off) == [Status.HELD, Status.LEAKED]


def test_no_row_is_held_if_another_start_is_not_confined() -> None:
    assert statuses(CONFINED, Both(FREE, FREE)) == [Status.NOT_TESTED, Status.NOT_TESTED]


def test_the_evidence_names_the_way_of_an_attempt_that_succeeded() -> None:
    plain, way = tried(REFUSED, "read"), tried(DONE, "read", way="through a link")
    inside = Outcome({("a", 0): plain, ("a", 1): way}, ran=True)
    (found,) = verdicts([READ], {"a": Both(FREE, inside)}, OTHER, OTHER)
    assert found.evidence == ("read (through a link)",)
    inside.tried["a", 0] = replace(plain, record=way.record)
    (found,) = verdicts([READ], {"a": Both(FREE, inside)}, OTHER, OTHER)
    assert found.evidence == ("read",)
