"""The state in which a program starts inside, and the words that it gets."""

import pytest

from boxspec.api import expect, requires
from boxspec.programs import programs
from contracts.backend.client import BackendCase
from contracts.backend.ground import made_ground
from contracts.backend.reports import arguments, report
from contracts.shared.files import program_at
from contracts.shared.inherited import UNUSUAL, expect_the_callers
from contracts.shared.signals import expect_the_three_at_default, ignoring


@requires("BACKEND-LAUNCH-14")
@pytest.mark.parametrize("profile", ["repo-write", "ci-only"])
def test_a_program_starts_in_the_state_of_the_caller(case: BackendCase, profile: str) -> None:
    with made_ground() as ground:
        found = report(case, ground, profile=profile, state=UNUSUAL)
    expect_the_callers(case, found)


@requires("BACKEND-LAUNCH-14")
def test_three_signals_are_at_their_default_inside(case: BackendCase) -> None:
    with made_ground() as ground:
        found = report(case, ground, state=ignoring("INT", "TERM", "PIPE"))
    expect_the_three_at_default(found)


@requires("BACKEND-LAUNCH-07")
def test_a_program_gets_the_name_that_the_request_gives_it(case: BackendCase) -> None:
    with made_ground() as ground:
        program = program_at(ground.ws / "report", programs.report)
        name = f"./{program.name}"
        found = report(case, ground, call={"program": name})
    expect("the first word that the program gets", arguments(found)[0], name)
