"""What the pages of the contracts say beside their items, and where they lead."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from selftest.tools import CONFORMANCE, CONTRACTS, ROOT, requirements


@pytest.mark.parametrize("contract", sorted(CONTRACTS))
def test_each_requirement_that_a_page_names_is_there(contract: str) -> None:
    text = (CONTRACTS[contract] / "page.md").read_text()
    known = {each["id"] for name in CONTRACTS for each in requirements(name)}
    named = set(re.findall(rf"\b(?:{'|'.join(CONTRACTS).upper()})-[A-Z]+-[0-9]+\b", text))
    assert named - known == set()


def test_links_of_the_pages_lead_somewhere() -> None:
    pages = [ROOT / "README.md", *sorted(CONFORMANCE.rglob("*.md"))]
    broken = [
        f"{page.name}: {target}"
        for page in pages
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
        if not Path(page.parent / target).exists()
    ]
    assert broken == []
