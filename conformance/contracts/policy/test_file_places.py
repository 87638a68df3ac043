"""POLICY-FILE-06: the place of a value in each YAML style, on one line and on several lines."""

from __future__ import annotations

from typing import Any

import pytest

from boxspec.api import expect, requires
from contracts.policy.client import PolicyCase

HEAD = "schemaVersion: 2\nkind: Policy\nmetadata: {name: t}\nspec:\n"
# A rule in each YAML style. A problem of the rule is reported at its first character: a quotation
# mark for quoted styles, and `|` or `>` for blocks.
STYLES = {
    "plain": "/x y",
    "plain on two lines": "/x\n      y",
    "single quotes": "'/x y'",
    "single quotes on two lines": "'/x\n      y'",
    "double quotes": '"/x y"',
    "double quotes on two lines": '"/x\n\n      y"',
    "double quotes with an escaped break": '"/x \\\n      y"',
    "a literal block": "|\n      /x y",
    "a folded block": ">-\n      /x\n      y",
    "a block with an indicator": "|2-\n      /x y",
}
BEFORE = {
    "nothing": "",
    "a comment": "# é\n",
    "a text on several lines": 'description: "a\n\n    b"\n',
    "a block": "description: |\n    a\n\n    b\n",
}


def position(text: str, at: int) -> tuple[int, int]:
    above = text[:at].split("\n")
    return len(above), len(above[-1]) + 1


def places(case: PolicyCase, text: str) -> list[tuple[Any, ...]]:
    problems = case.policy.load({"text": text, "format": "yaml"}).error.get("problems", [])
    return [(each.get("line"), each.get("column")) for each in problems]


@requires("POLICY-FILE-06", capability="policy.yaml")
@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("style", STYLES)
def test_the_place_of_a_rule_in_each_style(case: PolicyCase, style: str, before: str) -> None:
    above = HEAD + "".join(f"  {line}\n" for line in BEFORE[before].splitlines())
    text = f"{above}  denyRead:\n    - ok\n    - {STYLES[style]}\n    - /z\n"
    ats = [text.index(STYLES[style], len(above)), text.rindex("/z")]
    expect(
        "lines and columns of the problems", places(case, text), [position(text, at) for at in ats]
    )


@requires("POLICY-FILE-06", capability="policy.yaml")
@pytest.mark.parametrize("style", [each for each in STYLES if "quotes" in each])
def test_the_place_of_a_name_in_each_style(case: PolicyCase, style: str) -> None:
    """Write an unknown field in each style. A name on several lines must be marked with a question
    mark."""
    text = f"{HEAD}  ? {STYLES[style]}\n  : 1\n"
    wanted = [position(text, text.index(STYLES[style]))]
    expect("line and column of the unknown field", places(case, text), wanted)
