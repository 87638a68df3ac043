"""What a baseline excuses: a reason that is known, and nothing beside it."""

from __future__ import annotations

import pytest

from boxspec.judge import baseline as known
from boxspec.judge.requirements import load
from boxspec.judge.results import Judged, Tree
from boxspec.judge.verdict import Verdict
from contracts.sbpl import mac
from selftest.tools import ROOT

ON_LINUX = ROOT / "ci" / "known-linux.toml"


def tree(verdict: Verdict, reason: str) -> Tree:
    """One requirement that conforms, and SBPL-MAC-01, judged beside the baseline."""
    is_known = known.read(ON_LINUX).covers("SBPL-MAC-01", verdict, reason)
    judged = [
        Judged(load()["SBPL-FORM-01"], Verdict.CONFORMS, []),
        Judged(load()["SBPL-MAC-01"], verdict, [], reason, is_known),
    ]
    return Tree(None, [], {}, ["sbpl"], [], None, judged, [], 0.0)


@pytest.mark.parametrize(
    ("verdict", "reason", "code"),
    [
        (Verdict.NOT_MEASURED, mac.ABSENT, 0),
        (Verdict.NOT_MEASURED, "no test of it was run", 3),
        (Verdict.NOT_APPLICABLE, mac.ABSENT, 3),
        (Verdict.CONFORMS, "", 0),
    ],
)
def test_a_complete_run_may_lack_what_is_known_to_be_measured_elsewhere(
    verdict: Verdict, reason: str, code: int
) -> None:
    assert tree(verdict, reason).exit_code(require_complete=True) == code


def test_without_require_complete_nothing_changes() -> None:
    assert tree(Verdict.NOT_MEASURED, "no test of it was run").exit_code() == 0


def test_the_baseline_of_linux_has_measurable_requirements_only() -> None:
    assert [name for name in known.read(ON_LINUX).entries if not load()[name].testable] == []
