"""The contract for people and the contract for programs say the same."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from selftest.tools import CONFORMANCE, CONTRACTS, ROOT, requirements

ITEM = re.compile(
    r"^\* \*\*(?P<id>[A-Z]+-[A-Z]+-[0-9]{2})\*\* \((?P<level>[A-Z]+), (?P<profile>[a-z]+)"
    r"(?P<capability>(?:, `[a-z_.]+`)*)\) (?P<text>.*?) \*(?P<source>[^*]+)\.\*(?P<more>.*)$",
    re.M,
)


def from_page(contract: str) -> list[re.Match[str]]:
    return list(ITEM.finditer((CONTRACTS[contract] / "page.md").read_text()))


def capabilities(requirement: dict[str, Any]) -> list[str]:
    named = requirement.get("capability") or []
    return [named] if isinstance(named, str) else list(named)


@pytest.fixture(params=sorted(CONTRACTS))
def contract(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_each_id_stands_once_on_the_page_and_once_in_the_file(contract: str) -> None:
    page = Counter(item["id"] for item in from_page(contract))
    file = Counter(requirement["id"] for requirement in requirements(contract))
    assert page == file
    assert set(page.values()) == {1}


def test_no_id_on_the_page_escapes_the_pattern(contract: str) -> None:
    text = (CONTRACTS[contract] / "page.md").read_text()
    named = re.findall(r"\*\*([A-Z]+-[A-Z]+-[0-9]+)\*\*", text)
    assert named == [item["id"] for item in from_page(contract)]


def test_level_profile_capability_and_source_agree(contract: str) -> None:
    page = {
        item["id"]: (
            item["level"],
            item["profile"],
            re.findall(r"`([^`]+)`", item["capability"]),
            item["source"],
        )
        for item in from_page(contract)
    }
    file = {
        requirement["id"]: (
            requirement["level"],
            requirement["profile"],
            capabilities(requirement),
            requirement["source"],
        )
        for requirement in requirements(contract)
    }
    assert page == file


def test_what_cannot_be_tested_says_why_on_both_sides(contract: str) -> None:
    page = {item["id"] for item in from_page(contract) if "Not testable" in item["more"]}
    file = {item["id"] for item in requirements(contract) if item["testable"] is not True}
    assert page == file


def test_levels_and_profiles_are_the_known_ones(contract: str) -> None:
    assert {item["level"] for item in from_page(contract)} <= {"MUST", "SHOULD", "MAY"}
    assert {item["profile"] for item in from_page(contract)} <= {"contract", "hardened"}


def test_links_of_the_pages_lead_somewhere() -> None:
    pages = [ROOT / "README.md", *sorted(CONFORMANCE.rglob("*.md"))]
    broken = [
        f"{page.name}: {target}"
        for page in pages
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
        if not Path(page.parent / target).exists()
    ]
    assert broken == []
