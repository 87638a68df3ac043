"""Tests of the report page in a browser: it opens fast and fits the window, its filters and keys
work, and texts of a shim are shown as text.

Without a browser these tests are skipped; `ci/setup --browser` installs one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from selftest.trees import HARDENED, MUST, OTHER_MUST

CHROMIUM = shutil.which("chromium")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="no playwright: ci/setup --browser")
    if CHROMIUM is None:
        pytest.skip("no chromium: ci/setup --browser")
    home = tmp_path_factory.mktemp("home")
    with api.sync_playwright() as started:
        # Chromium's own sandbox needs privileges that root in a container does not have.
        made = started.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox"] if os.geteuid() == 0 else [],
            env={**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home)},
        )
        yield made
        made.close()


class Seen:
    """An open page and its error messages."""

    def __init__(self, browser: Any, path: Path, fragment: str = "", **how: Any) -> None:
        how.setdefault("viewport", {"width": 1000, "height": 800})
        self.context = browser.new_context(**how)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda said: self.complaints.append(said.text))
        self.page.on("pageerror", lambda why: self.complaints.append(str(why)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.url = path.as_uri()
        self.page.goto(self.url + fragment)
        self.page.wait_for_selector("html[data-ready]", state="attached")

    def __enter__(self) -> Seen:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def rows(self, panel: str = "requirements") -> list[str]:
        """Return the ids of the visible rows."""
        found: list[str] = self.page.eval_on_selector_all(
            f"#panel-{panel} tbody tr[id]:not([hidden])", "rows => rows.map(row => row.id)"
        )
        return found

    def focused(self) -> str:
        found: str = self.page.evaluate("document.activeElement.getAttribute('href') ?? ''")
        return found


@pytest.fixture
def small_seen(browser: Any, small_page: Path) -> Iterator[Seen]:
    with Seen(browser, small_page) as seen:
        yield seen
        assert seen.complaints == []
        assert [url for url in seen.asked if not url.startswith((seen.url, "data:"))] == []


def test_ten_implementations_open_within_a_second(browser: Any, ten_page: Path) -> None:
    """The processor time of the page's thread is measured, because unlike real time it does not
    depend on other programs."""
    context = browser.new_context(viewport={"width": 1600, "height": 900})
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(ten_page.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    said = session.send("Performance.getMetrics")["metrics"]
    context.close()
    took = {each["name"]: each["value"] for each in said}
    assert 0.01 < took["TaskDuration"] <= 1, took


@pytest.mark.parametrize("width", [400, 1000, 1600])
@pytest.mark.parametrize("which", ["small_page", "ten_page"])
def test_nothing_sticks_out(
    browser: Any, request: pytest.FixtureRequest, which: str, width: int
) -> None:
    path = request.getfixturevalue(which)
    with Seen(browser, path, viewport={"width": width, "height": 800}) as seen:
        beyond = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        seen.page.locator(".configurations details").first.evaluate("each => each.open = true")
        for tab in seen.page.locator("[role=tab]").all():
            tab.click()
            assert seen.page.evaluate(beyond) <= 0, tab.inner_text()
        seen.page.locator("[role=tab]").first.click()
        seen.page.locator("td.fails a").first.click()
        assert seen.page.evaluate("dialog.scrollWidth - dialog.clientWidth") <= 0


def test_texts_of_a_shim_stay_text(small_seen: Seen) -> None:
    page = small_seen.page
    for tab in page.locator("[role=tab]").all():
        tab.click()
    page.locator("[role=tab]").first.click()
    page.locator("td.fails a").first.click()
    assert (
        "<script>document.title='owned'</script>" in page.locator("dialog pre").first.inner_text()
    )
    assert "owned" not in page.title().replace("document.title='owned'", "")
    assert page.locator("script").count() == 2


def test_a_cell_opens_its_failure_with_its_repro(small_seen: Seen) -> None:
    page = small_seen.page
    page.locator(f"[id='{MUST}'] td.fails a").click()
    assert page.locator("dialog h2").inner_text().startswith(MUST)
    block = page.locator("dialog pre").first.inner_text()
    assert block.startswith(f"{MUST} (MUST, contract)")
    assert "repro --shim" in page.locator("dialog .again code").first.inner_text()
    assert "since 2026-11-01T10:00:00Z" in page.locator("dialog .since").inner_text()
    assert "a mistake" in page.locator("dialog").inner_text()
    more = page.locator("dialog a[href^='data/']").get_attribute("href")
    assert (Path(small_seen.url.removeprefix("file://")).parent / more).is_file()


def test_the_filters_show_the_selected_rows(small_seen: Seen) -> None:
    page, every = small_seen.page, small_seen.rows()
    page.locator("[name=verdict][value=fails]").check()
    assert small_seen.rows() == [MUST, OTHER_MUST]
    page.locator("[name=verdict][value=not-measured]").check()
    assert {*small_seen.rows()} == {MUST, OTHER_MUST, HARDENED}
    page.locator("#profile").select_option("hardened")
    assert small_seen.rows() == [HARDENED]
    page.locator("button[type=reset]").click()
    page.wait_for_selector("tr[id][hidden]", state="detached")
    assert small_seen.rows() == every
    page.locator("#level").select_option("SHOULD")
    levels = page.eval_on_selector_all(
        "#panel-requirements tr[id]:not([hidden])", "rows => rows.map(row => row.dataset.level)"
    )
    assert {*levels} == {"SHOULD"}
    page.locator("button[type=reset]").click()
    page.locator("#text").fill(f"{MUST.lower()}")
    assert small_seen.rows() == [MUST]
    assert page.locator("#count").inner_text() == f"1 of {len(every)}"
    page.locator("#text").fill("")
    page.locator("#differ").check()
    assert {*small_seen.rows()} == {MUST, OTHER_MUST, HARDENED}


def test_the_whole_page_works_by_keyboard(small_seen: Seen) -> None:
    page = small_seen.page
    press = page.keyboard.press
    press("/")
    page.keyboard.type(MUST.lower())
    assert small_seen.rows() == [MUST]
    # Press Tab from the search field through the other filters. The table has only one cell in the
    # tab order.
    for _ in range(40):
        press("Tab")
        if MUST in small_seen.focused() and "/" in small_seen.focused():
            break
    first = small_seen.focused()
    press("ArrowRight")
    assert small_seen.focused() == f"#impl-good/{MUST}"
    press("ArrowLeft")
    assert small_seen.focused() == first
    press("Enter")
    page.wait_for_selector("dialog[open]")
    press("Escape")
    page.wait_for_selector("dialog:not([open])", state="attached")
    assert small_seen.focused() == first


def test_n_and_p_go_to_the_next_and_previous_failure(small_seen: Seen) -> None:
    page = small_seen.page
    one, two = (
        page.locator(f"[id='{name}'] td.fails a").first.get_attribute("href")
        for name in (MUST, OTHER_MUST)
    )

    def place_after(key: str) -> str:
        page.keyboard.press(key)
        page.wait_for_selector("dialog[open]")
        found: str = page.evaluate("decodeURIComponent(location.hash)")
        return found

    met = [place_after(key) for key in ("n", "n", "n", "p", "p")]
    assert met == [one, two, one, two, one]
    # A letter that is typed in the filter is text, not a key of the page.
    page.keyboard.press("Escape")
    page.locator("#text").fill("")
    page.keyboard.type("n")
    assert page.locator("#text").input_value() == "n"
    # Failures that a filter hides are left out.
    page.locator("#text").fill(OTHER_MUST.lower())
    page.locator("#tab-requirements").focus()
    assert [place_after("n"), place_after("n")] == [two, two]


def test_the_address_has_the_filters_and_the_open_cell(browser: Any, small_page: Path) -> None:
    with Seen(browser, small_page) as first:
        first.page.locator("[name=verdict][value=fails]").check()
        first.page.locator("#contract").select_option("exec")
        first.page.keyboard.press("n")
        address, shown = first.page.url, first.page.locator("dialog h2").inner_text()
    with Seen(browser, small_page, address.removeprefix(small_page.as_uri())) as second:
        assert second.rows() == [MUST, OTHER_MUST]
        assert second.page.locator("#contract").input_value() == "exec"
        assert second.page.locator("dialog h2").inner_text() == shown


# Words on two lines, except in the text of programs.
SPLIT_WORDS = r"""
() => {
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode;
    if (!node.parentElement.checkVisibility() || node.parentElement.closest("pre, code")) continue;
    if (getComputedStyle(node.parentElement).writingMode !== "horizontal-tb") continue;
    for (const word of node.data.matchAll(/[\p{L}\p{N}]+/gu)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map((each) => Math.round(each.top)));
      if (lines.size > 1) found.push(word[0]);
    }
  }
  return found;
}
"""


@pytest.mark.parametrize("width", [400, 1000, 1600])
def test_no_word_is_split_with_ten_columns(browser: Any, ten_page: Path, width: int) -> None:
    with Seen(browser, ten_page, viewport={"width": width, "height": 800}) as seen:
        for tab in seen.page.locator("[role=tab]").all():
            tab.click()
            assert seen.page.evaluate(SPLIT_WORDS) == [], tab.inner_text()
        seen.page.locator("[role=tab]").first.click()
        seen.page.locator("td.fails a").first.click()
        assert seen.page.evaluate(SPLIT_WORDS) == []


def test_tabs_go_by_arrows(small_seen: Seen) -> None:
    page = small_seen.page
    page.locator("#tab-requirements").focus()
    met = []
    for _ in range(6):
        met.append(page.locator("[role=tabpanel]:not([hidden])").get_attribute("id"))
        page.keyboard.press("ArrowRight")
    names = ["requirements", "backends", "peers", "faults", "tests", "requirements"]
    assert met == [f"panel-{name}" for name in names]


def test_arrows_go_down_over_a_topic_and_stop_at_the_end(small_seen: Seen) -> None:
    page, every = small_seen.page, small_seen.rows()
    page.locator(f"[id='{every[0]}'] td a").first.focus()
    for expected in every[1:12]:
        page.keyboard.press("ArrowDown")
        assert small_seen.focused().endswith(f"/{expected}")
    page.locator(f"[id='{every[-1]}'] td a").first.focus()
    page.keyboard.press("ArrowDown")
    assert small_seen.focused().endswith(f"/{every[-1]}")


@pytest.mark.parametrize(
    ("fragment", "shown"),
    [
        (f"#{MUST}", f"[id='{MUST}'].here"),
        ("#impl-good", "[id='impl-good'][open]"),
        (f"#impl-good/{OTHER_MUST}", "dialog[open]"),
        ("#fault-exec-env.a-mistake", "#panel-faults:not([hidden]) tr.here"),
        (f"#peers.{MUST}", "#panel-peers:not([hidden]) tr.here"),
        (
            f"#test-exec-test_env.py-test_{MUST.lower().replace('-', '_')}-0-",
            "#panel-tests:not([hidden]) tr.here",
        ),
        ("#tab-backends", "#panel-backends:not([hidden])"),
    ],
)
def test_a_link_into_the_page_shows_its_target(
    browser: Any, small_page: Path, fragment: str, shown: str
) -> None:
    with Seen(browser, small_page, fragment) as seen:
        seen.page.wait_for_selector(shown, timeout=10_000)
        assert seen.complaints == []


@pytest.mark.parametrize("fragment", ["#%", "#a/b", "#impl-good/\"']<", "#impl-good/", "#test-no"])
def test_a_link_to_nothing_does_nothing(browser: Any, small_page: Path, fragment: str) -> None:
    with Seen(browser, small_page, fragment) as seen:
        assert seen.page.locator("dialog[open]").count() == 0
        assert seen.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(browser: Any, small_page: Path, scheme: str) -> None:
    """The minimum contrast of WCAG for text is 4.5 to 1."""
    with Seen(browser, small_page, color_scheme=scheme) as seen:
        for selector in (
            "body",
            "td.fails a",
            "td.conforms a",
            "td.not-measured a",
            "th p",
            "th a",
        ):
            pair = seen.page.locator(selector).first.evaluate(COLOURS)
            assert contrast(*pair) >= 4.5, (selector, pair)


COLOURS = """element => {
  const text = getComputedStyle(element).color;
  let behind = element;
  while (behind && /^rgba.*, 0\\)$|^transparent$/.test(getComputedStyle(behind).backgroundColor))
    behind = behind.parentElement;
  const read = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
  return [read(text), read(getComputedStyle(behind ?? document.body).backgroundColor)];
}"""


def contrast(one: list[float], two: list[float]) -> float:
    def light(colour: list[float]) -> float:
        parts = [each / 255 for each in colour]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(two)))
    return (high + 0.05) / (low + 0.05)


def test_on_paper_nothing_is_cut_off(browser: Any, small_page: Path) -> None:
    with Seen(browser, small_page) as seen:
        seen.page.emulate_media(media="print")
        assert not seen.page.locator(".filters").is_visible()
        for frame in seen.page.locator(".frame:visible").all():
            assert frame.evaluate("each => getComputedStyle(each).overflowY") == "visible"
        assert seen.page.pdf().startswith(b"%PDF")


def test_without_its_script_the_matrix_is_there(browser: Any, small_page: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(small_page.as_uri())
    assert page.locator(f"[id='{MUST}'] td.fails").is_visible()
    context.close()
