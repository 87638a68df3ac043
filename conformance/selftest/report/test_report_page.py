"""Tests of the file of the report page: what it contains and how large it is."""

from __future__ import annotations

import re
from pathlib import Path

from lxml import etree
from lxml import html as parser

from boxspec.report.formats.html import code
from selftest.report.report_pages import LONG
from selftest.trees import MUST, OTHER_MUST


def test_the_page_is_one_file_that_loads_nothing(small_page: Path) -> None:
    page = parser.parse(str(small_page))
    places = [
        each.get(name) for name in ("src", "href") for each in page.iterfind(f".//*[@{name}]")
    ]
    outside = [each for each in places if not each.startswith(("#", "data:,"))]
    assert outside == []
    assert len(page.findall(".//script")) == 2
    assert "url(" not in small_page.read_text() and "@import" not in small_page.read_text()


def test_the_page_opens_on_what_is_broken(small_page: Path) -> None:
    page = parser.parse(str(small_page))
    first = page.find(".//header").findall("section")[0]
    assert first.get("aria-label") == "broken"
    links = [each.get("href").partition("/")[2] for each in first.iterfind(".//a")]
    assert {MUST, OTHER_MUST} <= {*links}


def test_a_control_is_not_shown_as_a_sandbox_that_fails(small_page: Path) -> None:
    text = small_page.read_text()
    assert "<b>none 1.0</b> is a control, not a sandbox: it fails 1, as it must" in text
    assert "<b>none 1.0</b> breaks" not in text
    head = text.partition('aria-label="matrix of backends"')[2].partition("</thead>")[0]
    assert re.findall(r'class="who( control)?"', head) == ["", " control"]
    assert "good 1.0 · landlock, sandbox" in head


def test_an_id_is_there_once(small_page: Path) -> None:
    ids = [each.get("id") for each in parser.parse(str(small_page)).iterfind(".//*[@id]")]
    assert len(ids) == len({*ids})
    assert {MUST, f"peers.{MUST}", "impl-good", "fault-exec-env.a-mistake"} <= {*ids}


def test_each_link_inside_leads_somewhere(small_page: Path) -> None:
    page = parser.parse(str(small_page))
    ids = {each.get("id") for each in page.iterfind(".//*[@id]")}
    links = {each.get("href")[1:] for each in page.iterfind(".//a[@href]")}
    for link in links:
        slug, slash, inner = link.partition("/")
        assert (slug in ids and inner.startswith(("EXEC-", "BACKEND-"))) if slash else link in ids


def test_long_evidence_is_stored_next_to_the_page(small_page: Path) -> None:
    files = list((small_page.parent / "data").iterdir())
    assert files != []
    assert all(LONG.strip() in path.read_text() for path in files)
    assert LONG not in small_page.read_text()
    assert all(path.name in small_page.read_text() for path in files)


def test_ten_implementations_fit_in_five_megabytes(ten_page: Path) -> None:
    assert ten_page.stat().st_size <= 5_000_000
    assert etree.HTML(ten_page.read_text()) is not None


def test_parts_in_backticks_are_code() -> None:
    assert code("a `b` <c>") == "a <code>b</code> &lt;c&gt;"
    assert code("(``failed to `P`: …``)") == "(<code>failed to `P`: …</code>)"
    assert code("one ` alone") == "one ` alone"
