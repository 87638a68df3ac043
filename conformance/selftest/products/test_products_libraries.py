"""Tests of libraries with shims: product.yaml, `boxspec products`, and the libraries of the
tree."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from boxspec.errors import UsageError
from boxspec.products import declared, judging
from boxspec.products.declared import Product
from boxspec.products.installing import state
from boxspec.products.judging import Judged
from boxspec.products.trying import TryResult, results_of_tries
from selftest.tools import CONFORMANCE, CONTRACTS, boxspec

pytestmark = pytest.mark.turns(6)

LIBRARIES = [each for each in declared.every() if each.here != declared.PRODUCTS]
PAGES = sorted((CONFORMANCE / "shims" / "products").glob("*/*.md"))
LONGEST = 150
# A library that starts programs without giving them their own process group.
TINY: dict[str, Any] = {
    "name": "my-implementation",
    "about": "a template",
    "language": "Python",
    "documents": "https://example.org/tiny",
    "contracts": ["exec"],
    "needs": ["python3"],
    "run": ["python3", "{root}/conformance/shims/templates/exec/python/shim.py"],
    "version": ["echo", "0.1"],
}
CHILD = ("--topic", "EXEC-CHILD")
WHY = "it makes no process group"


def product(folder: Path, **fields: Any) -> Path:
    folder.mkdir(exist_ok=True)
    plain = {name: value for name, value in {**TINY, **fields}.items() if value is not None}
    (folder / "product.yaml").write_text(yaml.safe_dump(plain))
    return folder


@pytest.mark.parametrize("each", LIBRARIES, ids=lambda each: each.word)
def test_a_declaration_names_existing_contracts_and_requirements(each: Product) -> None:
    assert {*each.contracts} <= {*CONTRACTS}
    known = set().union(*(requirements(name) for name in each.contracts))
    explained = [name for entry in each.fails for name in entry["requirements"]]
    assert {*explained} <= known
    assert {*each.topics} <= {name.rsplit("-", 1)[0] for name in known}
    twice = [name for name, count in Counter(explained).items() if count > 1]
    assert twice == [], "two reasons for one requirement"
    for entry in each.fails:
        assert {*entry.get("tried", [])} <= {*entry["requirements"]}
    assert ("{tried}" in each.tries) == bool(each.tried())
    for word in (*each.run, *each.version):
        for place in re.findall(r"\{\w+\}", word):
            assert place in ("{here}", "{home}", "{root}")


@pytest.mark.parametrize("each", LIBRARIES, ids=lambda each: each.word)
def test_a_shim_is_short(each: Product) -> None:
    sources = [
        file for file in each.here.rglob("*") if file.suffix in (".py", ".mjs", ".go", ".rs")
    ]
    long = {file.name: len(file.read_text().splitlines()) for file in sources}
    assert {name: count for name, count in long.items() if count > LONGEST} == {}


def requirements(contract: str) -> set[str]:
    plain = yaml.safe_load((CONTRACTS[contract] / "requirements.yaml").read_text())
    return {each["id"] for each in plain["requirements"]}


def test_product_names_are_unique() -> None:
    words = Counter(each.word for each in LIBRARIES)
    assert [word for word, count in words.items() if count > 1] == []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"run": None}, '"run" is a required property'),
        ({"color": "red"}, "color"),
        ({"contracts": []}, "contracts"),
        ({"documents": "a book"}, "documents"),
        ({"fails": [{"why": "x"}]}, "fails/0"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_wrong_declaration_is_named(tmp_path: Path, fields: dict[str, Any], said: str) -> None:
    folder = product(tmp_path / "odd", **fields)
    done = boxspec("products", "matrix", "--only", f"{folder}/")
    assert done.returncode == 2
    assert said in done.stderr, done.stderr
    assert f"{folder}/product.yaml" in done.stderr


def test_an_unknown_name_is_an_error_that_lists_the_known_names() -> None:
    done = boxspec("products", "install", "no-such-product")
    assert (done.returncode, "known: " in done.stderr) == (2, True)


def test_a_list_names_missing_tools(tmp_path: Path) -> None:
    without = declared.read(product(tmp_path / "without", needs=["no-such-program"]))
    assert state(without).why == "there is no no-such-program"
    fresh = declared.read(product(tmp_path / "fresh", build=[["true"]]))
    assert state(fresh).why == "not installed: ./ci/boxspec products install fresh"
    done = boxspec("products", "list")
    assert done.returncode == 0, done.stderr
    assert {each.word for each in LIBRARIES} <= {*re.findall(r"^(\S+) ", done.stdout, re.M)}


def test_a_failed_installation_keeps_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(declared, "cache_folder", lambda: tmp_path)
    from boxspec.products.installing import install

    broken = declared.read(
        product(tmp_path / "broken", install=[["sh", "-c", "echo no luck >&2; exit 9"]])
    )
    assert "cannot be installed: sh: no luck" in install(broken).why
    assert "cannot be installed: sh: no luck" in state(broken).why
    repaired = declared.read(product(tmp_path / "broken", install=[["touch", "{home}/here"]]))
    assert install(repaired).version == "0.1"
    assert (tmp_path / "products" / "broken" / "here").exists()
    again = declared.read(product(tmp_path / "broken", install=[["touch", "{home}/other"]]))
    assert "was changed since it was installed" in state(again).why


@pytest.mark.turns(10)
def test_a_matrix_shows_failures_with_their_declared_reasons(tmp_path: Path) -> None:
    """The JSON of a matrix is an input of the report page. A page made from the stored JSON must
    equal the page of the run."""
    entry = {"requirements": ["EXEC-CHILD-01"], "why": WHY, "tried": ["EXEC-CHILD-01"]}
    folder = product(tmp_path / "tiny", fails=[entry])
    gone = product(tmp_path / "gone", needs=["no-such-program"])
    only = ("--only", f"{folder}/", "--only", f"{gone}/", *CHILD)
    files = {name: tmp_path / f"matrix.{name}" for name in ("json", "md")}
    results = tmp_path / "results"
    done = boxspec(
        *("products", "matrix", *only, "--json", files["json"], "--md", files["md"]),
        *("--results", results),
    )
    assert done.returncode == 0, done.stderr
    assert "no reason is declared for EXEC-CHILD-" in done.stdout
    assert "no reason is declared for EXEC-CHILD-01" not in done.stdout
    page = files["md"].read_text()
    assert re.search(r"^\| EXEC-CHILD \| MUST 5/10, SHOULD 1/1 \|$", page, re.M), page
    assert re.search(r"^\| EXEC-CHILD-01 \| MUST contract \| ✗ \|$", page, re.M), page
    assert f"* EXEC-CHILD-01°: {WHY}" in page
    assert "there is no no-such-program" in page
    assert re.search(r"\| \d{4}-\d\d-\d\d, ([0-9a-f]{10}|unknown) \|", page), page
    repro = re.search(r"^ {6}(\./ci/boxspec repro .*)$", page, re.M)
    assert repro is not None
    assert "conformance/shims/templates/exec/python/shim.py" in repro[1]
    (one,) = json.loads(files["json"].read_text())["results"]
    assert one["target"]["implementation"]["name"] == "my-implementation"
    kept, html = results / "tiny.json", tmp_path / "page.html"
    assert boxspec("report", kept, "--peers", files["json"], "--html", html).returncode == 0
    assert "peers.EXEC-CHILD-01" in html.read_text()
    again = tmp_path / "again.md"
    done = boxspec("products", "matrix", *only, "--from", results, "--md", again)
    assert done.returncode == 0, done.stderr
    assert again.read_text().replace(str(again), str(files["md"])) == page


@pytest.mark.parametrize(
    ("tries", "seen", "line"),
    [
        (["sh", "-c", 'echo "$1 seen: what"', "sh", "{tried}"], True, "seen: what"),
        (["sh", "-c", 'echo "$1 not seen: what"', "sh", "{tried}"], False, "not seen: what"),
        (["sh", "-c", 'echo "$1 not tried: why"', "sh", "{tried}"], False, "not tried: why"),
        (["true", "{tried}"], False, "not tried: no line of it"),
    ],
)
def test_a_failure_is_seen_without_the_kit_or_not(
    tmp_path: Path, tries: list[str], seen: bool, line: str
) -> None:
    entry = {"requirements": ["EXEC-CHILD-01"], "why": WHY, "tried": ["EXEC-CHILD-01"]}
    found = [
        *results_of_tries(declared.read(product(tmp_path / "tiny", fails=[entry], tries=tries)))
    ]
    assert found == [TryResult("EXEC-CHILD-01", seen, f"EXEC-CHILD-01 {line}")]


def test_a_failure_that_is_not_seen_exits_1(tmp_path: Path) -> None:
    entry = {"requirements": ["EXEC-CHILD-01"], "why": WHY, "tried": ["EXEC-CHILD-01"]}
    folder = product(tmp_path / "tiny", fails=[entry], tries=["true", "{tried}"])
    done = boxspec("products", "try", f"{folder}/")
    assert (done.returncode, "not tried: no line of it" in done.stdout) == (1, True)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"tries": ["false", "{tried}"]}, "no output"),
        ({"fails": []}, "tries no requirement"),
    ],
    ids=["broken", "nothing"],
)
def test_a_product_that_cannot_be_tried_names_the_reason(
    tmp_path: Path, fields: dict[str, Any], why: str
) -> None:
    entry = {"requirements": ["EXEC-CHILD-01"], "why": WHY, "tried": ["EXEC-CHILD-01"]}
    one = declared.read(product(tmp_path / "tiny", **{"fails": [entry], **fields}))
    with pytest.raises(UsageError, match=why):
        list(results_of_tries(one))


def test_another_user_reaches_the_folders_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[int] = []

    def run(_words: Sequence[str], env: dict[str, str], _limit_s: float) -> str:
        places = (env["TMPDIR"], env["BOXSPEC_CASE_ROOT"])
        modes.extend(Path(place).stat().st_mode & 0o777 for place in places)
        return "not run"

    monkeypatch.setattr(judging, "_run", run)
    one = Judged(declared.read(product(tmp_path / "tiny")))
    judging.run(one, judging.Question(), tmp_path)
    assert (one.why, modes) == ("not run", [0o755, 0o755])


def test_a_shim_that_prints_nothing_has_no_score(tmp_path: Path) -> None:
    folder = product(tmp_path / "mute", run=["/bin/true"])
    done = boxspec("products", "matrix", "--only", f"{folder}/", "--md", tmp_path / "matrix.md")
    assert done.returncode == 0, done.stderr
    assert "no score: boxspec: " in (tmp_path / "matrix.md").read_text()


def test_a_run_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    folder = product(tmp_path / "slow", version=["echo", "1"])
    done = boxspec("products", "matrix", "--only", f"{folder}/", "--limit", "1")
    assert done.returncode == 0, done.stderr
    assert "the run did not end within 1 s" in done.stdout


def test_an_unknown_contract_is_an_error() -> None:
    done = boxspec("products", "matrix", "--contract", "no-such")
    assert (done.returncode, "no such contract" in done.stderr) == (2, True)


@pytest.mark.parametrize("each", LIBRARIES, ids=lambda each: each.word)
def test_an_installed_library_passes_smoke(each: Product) -> None:
    found = state(each)
    if found.why:
        pytest.skip(f"{each.word}: {found.why}")
    done = boxspec("smoke", "--shim", each.shim())
    assert done.returncode == 0, done.stdout + done.stderr
    # The page shows the name and the version that the shim reports.
    last = done.stdout.strip().splitlines()[-1]
    assert last.startswith(f"{each.name} {found.version} passed the trust checks"), last


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_a_page_has_a_reason_for_each_failure(page: Path) -> None:
    text = page.read_text()
    assert "no reason is declared yet" not in text
    for each in LIBRARIES:
        section = re.search(rf"^## {each.word}(: .*)?$(.*?)(?=^## |\Z)", text, re.M | re.S)
        lines = re.findall(r"^\* ([A-Z][A-Z0-9,°\- ]+): (.+)$", section[2] if section else "", re.M)
        for marked, why in lines:
            names = marked.split(", ")
            assert {each.why(name.rstrip("°")) for name in names} == {why}
            tried = [name.rstrip("°") for name in names if name.endswith("°")]
            assert tried == [name.rstrip("°") for name in names if name.rstrip("°") in each.tried()]
