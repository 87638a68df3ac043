"""Generated parts of the pages: each is up to date, complete, and not edited by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from boxspec.cli.dev import pages as verb
from boxspec.errors import UsageError
from boxspec.pages import generated
from boxspec.subject.client import schema
from boxspec.subject.contract import every
from selftest.tools import CONTRACTS, PROTOCOL, boxspec, requirements

END = generated.END


@pytest.mark.parametrize(
    "page", generated.pages(), ids=lambda page: f"{page.parent.name}/{page.name}"
)
def test_a_page_is_as_it_is_made(page: Path) -> None:
    text = page.read_text()
    assert text == generated.remade(text, page.name), "./ci/boxspec dev pages --write"


@pytest.mark.parametrize("contract", sorted(CONTRACTS))
def test_each_topic_is_once_on_the_page_of_its_contract(contract: str) -> None:
    text = (CONTRACTS[contract] / "page.md").read_text()
    topics = dict.fromkeys(each["id"].rpartition("-")[0] for each in requirements(contract))
    assert re.findall(r"^<!-- generated: requirements (\S+) -->$", text, re.M) == list(topics)


@pytest.mark.parametrize("contract", sorted(CONTRACTS))
def test_no_requirement_is_written_by_hand(contract: str) -> None:
    text = (CONTRACTS[contract] / "page.md").read_text()
    prose = re.sub(rf"^<!-- generated: .*?^{re.escape(END)}$", "", text, flags=re.M | re.S)
    assert re.findall(r"^\* \*\*.*$", prose, re.M) == []


def test_the_protocol_page_lists_the_declarations_of_each_contract() -> None:
    text = PROTOCOL.read_text()
    parts_of_page = re.findall(r"^<!-- generated: (\S+)", text, re.M)
    assert {"operations", "kinds", "capabilities"} <= set(parts_of_page)
    for contract in every():
        for name in (*contract.operations, *contract.capabilities):
            assert re.search(rf"^\| `{re.escape(name)}` \|", text, re.M), name


def test_the_verb_finds_the_pages_as_they_are_made() -> None:
    done = boxspec("dev", "pages")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"[1-9][0-9]* pages, 0 differ\n", done.stdout)


@pytest.fixture
def stale(tmp_path: Path) -> Path:
    """Return a page that is out of date: it has a SHOULD where the requirement is a MUST."""
    page = tmp_path / "page.md"
    made = generated.remade(f"<!-- generated: requirements EXEC-CAP -->\n{END}\n", "page")
    page.write_text(f"The MUST of prose.\n{made.replace('(MUST', '(SHOULD', 1)}The end.\n")
    return page


def test_differences_are_shown_and_kept(stale: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = stale.read_text()
    assert verb.compare(False, [stale]) == 1
    shown = capsys.readouterr().out
    assert "\n-* **EXEC-CAP-01** (SHOULD, hardened, `exec.cap`) " in shown
    assert "\n+* **EXEC-CAP-01** (MUST, hardened, `exec.cap`) " in shown
    assert shown.endswith("1 pages, 1 differ: ./ci/boxspec dev pages --write writes them\n")
    assert stale.read_text() == before


def test_differences_are_replaced_and_the_prose_stays(stale: Path) -> None:
    assert verb.compare(True, [stale]) == 0
    assert "(SHOULD" not in stale.read_text()
    assert stale.read_text().startswith("The MUST of prose.\n<!-- generated")
    assert stale.read_text().endswith(f"{END}\nThe end.\n")
    assert verb.compare(False, [stale]) == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\n<!-- generated: kinds -->\n", "page:2: the part has no end"),
        (f"{END}\n", "page:1: an end marker without a part"),
        (
            f"<!-- generated: kinds -->\n<!-- generated: operations -->\n{END}\n",
            "page:2: the part before it has no end",
        ),
        (f"<!-- generated: verbs -->\n{END}\n", "page:1: unknown part 'verbs'"),
        (f"<!-- generated: requirements EXEC-NO -->\n{END}\n", "requirements: unknown"),
        (f"<!-- generated: request exec.no -->\n{END}\n", "request: unknown 'exec.no'"),
        (f"<!-- generated: result -->\n{END}\n", "result: missing a required argument"),
        (f"<!-- generated: kinds of errors -->\n{END}\n", "kinds: too many positional"),
    ],
)
def test_a_wrong_marker_is_named(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        generated.remade(text, "page")


def part(words: str) -> list[str]:
    return generated.remade(f"<!-- generated: {words} -->\n{END}\n", "page").splitlines()[1:-1]


def test_an_item_has_its_level_profile_capability_source_and_why_it_is_not_tested() -> None:
    assert part("requirements EXEC-CAP")[0] == (
        "* **EXEC-CAP-01** (MUST, hardened, `exec.cap`) If a stream exceeds"
        " `max_output_bytes` before the first signal, even by one byte, the group MUST be ended by"
        " SIGKILL at once, and the result has `success` false, `exit_code` null and `truncated`"
        " true."
        " *decisions, Request and outcome table.*"
    )
    untested = part("requirements EXEC-KILL")[13]
    assert untested.startswith("* **EXEC-KILL-14** (MUST, hardened) After the child is reaped")
    assert "*decisions, Waiting; pitfalls I10.* Not testable from outside: a test would" in untested


def test_each_field_is_required_or_explains_its_absence() -> None:
    rows = part("request exec.run exec_request")
    assert "| `program` | a name or a path; no shell | required |" in rows
    assert "| `timeout_ms` | integer | no deadline |" in rows
    assert "| `debug` | boolean | `false` |" in rows
    assert not any("_b64`" in row.split("|")[1] for row in rows)
    assert not any(row.startswith(("| `id`", "| `op`")) for row in part("request sbpl.wrap"))


def test_a_field_without_a_description_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    field = schema.documents()["bye"]["$defs"]["request"]["properties"]
    monkeypatch.setitem(field, "status", {"type": "integer"})
    with pytest.raises(UsageError, match="unknown 'description of bye status'"):
        part("request bye")


def test_a_field_of_a_result_is_given_always_or_with_a_capability_or_not() -> None:
    rows = part("result exec.run")
    assert "| `stdout` | the decoded text, or its digest | always |" in rows
    assert "| `truncated` | true if a stream was cut at the cap | with `exec.cap` |" in rows
    assert part("result sbpl.compile")[-1].endswith("| may be absent |")
