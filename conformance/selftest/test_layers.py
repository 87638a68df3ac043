"""Libraries behind shims: what a peer.yaml is, the verb `peers`, and the ones that lie here."""

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
from boxspec.peers import declared, judging
from boxspec.peers.declared import Peer
from boxspec.peers.installing import state
from boxspec.peers.trying import Shown, shown
from selftest.tools import CONFORMANCE, CONTRACTS, boxspec

PEERS = declared.every()
PAGES = sorted((CONFORMANCE / "shims" / "peers").glob("*/*.md"))
LONGEST = 150
# One that runs programs, and does not make a group of its own.
TINY: dict[str, Any] = {
    "name": "my-implementation",
    "about": "a template",
    "language": "Python",
    "documents": "https://example.org/tiny",
    "contracts": ["exec"],
    "needs": ["python3"],
    "run": ["python3", "{root}/conformance/shims/templates/python/shim.py"],
    "version": ["echo", "0.1"],
}
CHILD = ("--topic", "EXEC-CHILD")
WHY = "nobody makes a group"


def peer(folder: Path, **fields: Any) -> Path:
    folder.mkdir(exist_ok=True)
    plain = {name: value for name, value in {**TINY, **fields}.items() if value is not None}
    (folder / "peer.yaml").write_text(yaml.safe_dump(plain))
    return folder


@pytest.mark.parametrize("each", PEERS, ids=lambda each: each.word)
def test_a_peer_names_what_there_is(each: Peer) -> None:
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


@pytest.mark.parametrize("each", PEERS, ids=lambda each: each.word)
def test_a_shim_can_be_read_in_one_sitting(each: Peer) -> None:
    sources = [
        file for file in each.here.rglob("*") if file.suffix in (".py", ".mjs", ".go", ".rs")
    ]
    long = {file.name: len(file.read_text().splitlines()) for file in sources}
    assert {name: count for name, count in long.items() if count > LONGEST} == {}


def requirements(contract: str) -> set[str]:
    plain = yaml.safe_load((CONTRACTS[contract] / "requirements.yaml").read_text())
    return {each["id"] for each in plain["requirements"]}


def test_each_name_is_of_one_peer() -> None:
    words = Counter(each.word for each in PEERS)
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
    folder = peer(tmp_path / "odd", **fields)
    done = boxspec("peers", "matrix", "--only", f"{folder}/")
    assert done.returncode == 2
    assert said in done.stderr, done.stderr
    assert f"{folder}/peer.yaml" in done.stderr


def test_a_name_that_no_peer_has_is_an_error_with_those_that_are() -> None:
    done = boxspec("peers", "install", "no-such-peer")
    assert (done.returncode, "known: " in done.stderr) == (2, True)


def test_a_list_says_what_is_missing(tmp_path: Path) -> None:
    without = declared.read(peer(tmp_path / "without", needs=["no-such-program"]))
    assert state(without).why == "there is no no-such-program"
    fresh = declared.read(peer(tmp_path / "fresh", build=[["true"]]))
    assert state(fresh).why == "not installed: ./ci/boxspec peers install fresh"
    done = boxspec("peers", "list")
    assert done.returncode == 0, done.stderr
    assert {each.word for each in PEERS} <= {*re.findall(r"^(\S+) ", done.stdout, re.M)}


def test_what_cannot_be_installed_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declared, "kept", lambda: tmp_path)
    from boxspec.peers.installing import install

    broken = declared.read(
        peer(tmp_path / "broken", install=[["sh", "-c", "echo no luck >&2; exit 9"]])
    )
    assert "cannot be installed: sh: no luck" in install(broken).why
    assert "cannot be installed: sh: no luck" in state(broken).why
    mended = declared.read(peer(tmp_path / "broken", install=[["touch", "{home}/here"]]))
    assert install(mended).version == "0.1"
    assert (tmp_path / "peers" / "broken" / "here").exists()
    again = declared.read(peer(tmp_path / "broken", install=[["touch", "{home}/other"]]))
    assert "was changed since it was installed" in state(again).why


@pytest.mark.turns(5)
def test_a_matrix_shows_what_fails_and_what_was_read_of_it(tmp_path: Path) -> None:
    """Its json feeds a report, and what is kept makes the same page once more."""
    entry = {"requirements": ["EXEC-CHILD-01"], "why": WHY, "tried": ["EXEC-CHILD-01"]}
    folder = peer(tmp_path / "tiny", fails=[entry])
    gone = peer(tmp_path / "gone", needs=["no-such-program"])
    only = ("--only", f"{folder}/", "--only", f"{gone}/", *CHILD)
    files = {name: tmp_path / f"matrix.{name}" for name in ("json", "md")}
    results = tmp_path / "results"
    done = boxspec(
        *("peers", "matrix", *only, "--json", files["json"], "--md", files["md"]),
        *("--results", results),
    )
    assert done.returncode == 0, done.stderr
    assert "nobody has read EXEC-CHILD-" in done.stdout
    assert "nobody has read EXEC-CHILD-01" not in done.stdout
    page = files["md"].read_text()
    assert re.search(r"^\| EXEC-CHILD \| MUST 6/10, SHOULD 1/1 \|$", page, re.M), page
    assert re.search(r"^\| EXEC-CHILD-01 \| MUST contract \| ✗ \|$", page, re.M), page
    assert f"* EXEC-CHILD-01°: {WHY}" in page
    assert "there is no no-such-program" in page
    assert re.search(r"\| \d{4}-\d\d-\d\d, ([0-9a-f]{10}|unknown) \|", page), page
    repro = re.search(r"^ {6}(\./ci/boxspec repro .*)$", page, re.M)
    assert repro is not None
    assert "conformance/shims/templates/python/shim.py" in repro[1]
    (one,) = json.loads(files["json"].read_text())["results"]
    assert one["target"]["implementation"]["name"] == "my-implementation"
    kept, html = results / "tiny.json", tmp_path / "page.html"
    assert boxspec("report", kept, "--peers", files["json"], "--html", html).returncode == 0
    assert "peers.EXEC-CHILD-01" in html.read_text()
    again = tmp_path / "again.md"
    done = boxspec("peers", "matrix", *only, "--from", results, "--md", again)
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
def test_what_was_tried_without_the_kit_is_seen_or_not(
    tmp_path: Path, tries: list[str], seen: bool, line: str
) -> None:
    entry = {"requirements": ["EXEC-CHILD-01"], "why": WHY, "tried": ["EXEC-CHILD-01"]}
    found = [*shown(declared.read(peer(tmp_path / "tiny", fails=[entry], tries=tries)))]
    assert found == [Shown("EXEC-CHILD-01", seen, f"EXEC-CHILD-01 {line}")]


def test_what_is_not_seen_again_is_exit_1(tmp_path: Path) -> None:
    entry = {"requirements": ["EXEC-CHILD-01"], "why": WHY, "tried": ["EXEC-CHILD-01"]}
    folder = peer(tmp_path / "tiny", fails=[entry], tries=["true", "{tried}"])
    done = boxspec("peers", "try", f"{folder}/")
    assert (done.returncode, "not tried: no line of it" in done.stdout) == (1, True)


@pytest.mark.parametrize(
    ("fields", "why"),
    [({"tries": ["false", "{tried}"]}, "no word"), ({"fails": []}, "nothing of it was tried")],
    ids=["broken", "nothing"],
)
def test_what_cannot_be_tried_says_why(tmp_path: Path, fields: dict[str, Any], why: str) -> None:
    entry = {"requirements": ["EXEC-CHILD-01"], "why": WHY, "tried": ["EXEC-CHILD-01"]}
    one = declared.read(peer(tmp_path / "tiny", **{"fails": [entry], **fields}))
    with pytest.raises(UsageError, match=why):
        list(shown(one))


def test_another_user_reaches_the_folders_of_a_peers_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes = []

    def run(_words: Sequence[str], folder: Path, _limit_s: float) -> str:
        modes.append(folder.stat().st_mode & 0o777)
        return "not run"

    monkeypatch.setattr(judging, "_run", run)
    one = declared.read(peer(tmp_path / "tiny"))
    assert judging.judged(one, judging.Asked(), tmp_path).why == "not run"
    assert modes == [0o755]


def test_a_shim_that_says_nothing_has_no_score(tmp_path: Path) -> None:
    folder = peer(tmp_path / "mute", run=["/bin/true"])
    done = boxspec("peers", "matrix", "--only", f"{folder}/", "--md", tmp_path / "matrix.md")
    assert done.returncode == 0, done.stderr
    assert "no score: boxspec: " in (tmp_path / "matrix.md").read_text()


def test_a_run_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    folder = peer(tmp_path / "slow", version=["echo", "1"])
    done = boxspec("peers", "matrix", "--only", f"{folder}/", "--limit", "1")
    assert done.returncode == 0, done.stderr
    assert "the run did not end within 1 s" in done.stdout


def test_a_contract_that_nobody_has_is_an_error() -> None:
    done = boxspec("peers", "matrix", "--contract", "no-such")
    assert (done.returncode, "no such contract" in done.stderr) == (2, True)


@pytest.mark.parametrize("each", PEERS, ids=lambda each: each.word)
def test_a_peer_that_is_installed_is_a_shim(each: Peer) -> None:
    found = state(each)
    if found.why:
        pytest.skip(f"{each.word}: {found.why}")
    done = boxspec("smoke", "--shim", each.shim())
    assert done.returncode == 0, done.stdout + done.stderr
    # The name and the version of the page are those of the shim.
    last = done.stdout.strip().splitlines()[-1]
    assert last.startswith(f"{each.name} {found.version} may be scored"), last


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_a_page_has_nothing_that_nobody_has_read(page: Path) -> None:
    text = page.read_text()
    assert "not read yet" not in text
    for each in PEERS:
        section = re.search(rf"^## {each.word}(: .*)?$(.*?)(?=^## |\Z)", text, re.M | re.S)
        lines = re.findall(r"^\* ([A-Z][A-Z0-9,°\- ]+): (.+)$", section[2] if section else "", re.M)
        for marked, why in lines:
            names = marked.split(", ")
            assert {each.why(name.rstrip("°")) for name in names} == {why}
            tried = [name.rstrip("°") for name in names if name.endswith("°")]
            assert tried == [name.rstrip("°") for name in names if name.rstrip("°") in each.tried()]
