"""The prose of the contracts' pages, and their links."""

from __future__ import annotations

import re
from pathlib import Path

from selftest.tools import CONFORMANCE, CONTRACTS, ROOT, requirements


def test_each_requirement_that_a_page_names_is_there() -> None:
    known = {each["id"] for name in CONTRACTS for each in requirements(name)}
    id_of_any = re.compile(rf"\b(?:{'|'.join(CONTRACTS).upper()})-[A-Z]+-[0-9]+\b")
    pages = CONFORMANCE.rglob("*.md")
    assert {name for page in pages for name in id_of_any.findall(page.read_text())} <= known


def test_links_of_the_pages_lead_somewhere() -> None:
    others = ("README.md", "reference/README.md", "ci/release.md")
    pages = [*(ROOT / name for name in others), *sorted(CONFORMANCE.rglob("*.md"))]
    broken = [
        f"{page.name}: {target}"
        for page in pages
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
        if not Path(page.parent / target).exists()
    ]
    assert broken == []
