"""BACKEND-RULE-03: the place that the report of a rule names."""

from __future__ import annotations

import json
from typing import Any

import pytest

from boxspec.api import expect, requires
from contracts.backend.answers import NotEnforced
from contracts.backend.client import BackendCase
from contracts.backend.ground import made_ground
from contracts.backend.ruled import line_inside, planted, policy
from contracts.shared.documents import one_profile

RULES = "backend.policy"
# Rules that some backends cannot enforce, between rules that most backends can enforce.
LISTS: dict[str, dict[str, Any]] = {
    "denyModify": policy(("kept", "late/a", "kept2", "**/b.key", "late/c")),
    "denyRead": policy(("kept",), deny_read=("kept2", "late/a", "kept", "**/b.key")),
    "the profile": policy(("kept",), modify=("**", "!kept2", "!late/a", "!**/b.key")),
    "equal rules": policy(("late/a", "kept"), deny_read=("kept2", "late/a")),
}


def at_pointer(text: str, pointer: str) -> object:
    """Return the value at a JSON pointer (RFC 6901), or None."""
    value: Any = json.loads(text)
    for word in pointer.split("/")[1:]:
        name = word.replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(name)] if isinstance(value, list) else value[name]
        except (KeyError, IndexError, ValueError, TypeError):
            return None
    return value


def expect_places(reports: list[NotEnforced], texts: list[str]) -> None:
    """Fail if the pointer of a report leads to another rule. A report may have no pointer."""
    wrong = []
    for each in reports:
        if "pointer" in each:
            found = [str(at_pointer(text, each["pointer"])).removeprefix("!") for text in texts]
            if each["rule"].removeprefix("!") not in found:
                wrong.append(each)
    expect("reports with the place of another rule", wrong, [])


@requires("BACKEND-RULE-03", capability=RULES)
@pytest.mark.parametrize("where", LISTS)
def test_the_report_of_a_rule_has_its_place(case: BackendCase, where: str) -> None:
    rules = LISTS[where]
    claims = case.backend.probe("repo-write", policy=rules).result
    expect_places(claims["not_enforced"], [rules["text"]])
    with made_ground() as ground:
        for name in ("kept", "kept2"):
            planted(ground, name)
        session = line_inside(case, ground, ":", rules)
        expect_places(session.result["not_enforced"], [rules["text"]])


@requires("BACKEND-RULE-03", capability=RULES)
def test_the_report_of_a_workspaces_rule_has_its_place(case: BackendCase) -> None:
    own = one_profile(deny_modify=("kept", "kept2", "late/own", "**/b.key"))
    rules = {**policy(("late/a", "kept", "**/c.key")), "workspace": own}
    with made_ground() as ground:
        for name in ("kept", "kept2"):
            planted(ground, name)
        session = line_inside(case, ground, ":", rules)
        expect_places(session.result["not_enforced"], [rules["text"], own["text"]])
