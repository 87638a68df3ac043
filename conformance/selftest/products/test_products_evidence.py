"""Tests of the evidence in a matrix of sandboxes: a row that holds without a sandbox does not
count, and neither does a claim without an attempt.

The matrix first shows the attempts whose success gives control of the host.
"""

from __future__ import annotations

from boxspec.subject.observe.probes import table
from contracts.backend.products.cells import (
    CONTROL,
    GIVES_THE_HOST,
    HELD_WITHOUT,
    Cell,
    Column,
    State,
    without_evidence,
)
from contracts.backend.products.markdown import render, summary

FULLY = {"repo-write": {"aspects": {"fs-read": {"claim": "fully"}, "fs-write": {"claim": "fully"}}}}


def cell(test: str, state: State, probe: str = "w_create", aspect: str = "fs-write") -> Cell:
    return Cell(aspect, probe, test, "BACKEND-WRITE-01", state, "", "")


def column(name: str, *cells: Cell) -> Column:
    return Column(name, control=name == CONTROL, claims=FULLY, cells=[*cells])


def test_a_row_that_holds_without_a_sandbox_counts_for_no_product() -> None:
    none = column("none", cell("a", State.HELD), cell("b", State.ESCAPED))
    product = column("product", cell("a", State.HELD), cell("b", State.HELD))
    without_evidence([product, none])
    assert [each.state for each in product.cells] == [State.NO_EVIDENCE, State.HELD]
    assert none.cells[0].state is State.NO_EVIDENCE


def test_without_the_control_the_known_rows_count_for_no_product() -> None:
    (known,) = HELD_WITHOUT
    product = column("product", cell(known, State.HELD), cell("b", State.HELD))
    without_evidence([product])
    assert [each.state for each in product.cells] == [State.NO_EVIDENCE, State.HELD]


def test_what_must_work_inside_may_work_without_a_sandbox() -> None:
    both = [column(name, cell("a", State.HELD, aspect="works inside")) for name in ("none", "p")]
    without_evidence(both)
    assert both[1].cells[0].state is State.HELD


def test_a_claim_without_a_decided_attempt_is_shown_as_not_asked() -> None:
    product = column("product", cell("a", State.HELD), cell("b", State.NOT_MEASURED, "r_secret"))
    page = render("matrix", {}, [product])
    assert "| fs-read | claimed fully, not asked |" in page
    assert "| fs-write | fully: 1 held, 1 not measured |" in page


def test_the_summary_begins_with_control_of_the_host() -> None:
    cells = [cell(str(n), State.HELD) for n in range(60)]
    done = cell("core", State.DONE, "k_core_pattern_open")
    (line,) = summary([column("product", *cells, done)])
    assert line.split(maxsplit=1)[1].startswith("CONTROL OF THE HOST: k_core_pattern_open (done)")
    (line,) = summary([column("product", *cells)])
    assert "HOST" not in line


def test_each_attempt_with_that_weight_is_a_probe() -> None:
    assert {*table()} >= GIVES_THE_HOST
