"""Backends that nobody here wrote: what an adapter is, the verbs, and the matrix of fakes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from boxspec.judge.verdict import Failure
from contracts.backend.peers import judged, kept
from contracts.backend.peers.cells import TOPICS, Cell, State, cell
from contracts.backend.peers.judged import Candidate, Column
from selftest.tools import CONFORMANCE, ask, boxspec, run

PEERS = CONFORMANCE / "shims" / "peers"
SHIM = PEERS / "shim.py"
META = ("--topic", "BACKEND-META")
FAKE = """
import time
from peers.adapter import EVERYTHING, Adapter

class Product(Adapter):
    program = "env"
    claims = {claims}

    def command(self, argv, asked):
        {command}
"""


def fake(folder: Path, command: str, claims: str = "EVERYTHING") -> Path:
    file = folder / "fake.py"
    file.write_text(FAKE.format(command=command, claims=claims))
    return file


def matrix(folder: Path, *words: str | Path) -> dict[str, Any]:
    out = folder / "matrix.json"
    done = boxspec("matrix", *words, "--json", out, "--md", folder / "matrix.md")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def column(folder: Path, *words: str | Path) -> dict[str, Any]:
    (one,) = matrix(folder, *words)["backends"]
    found: dict[str, Any] = one
    return found


def states(found: dict[str, Any]) -> Counter[str]:
    """Of what was asked: strict_metadata is not, for no adapter has it."""
    return Counter(cell["state"] for cell in found["cells"] if cell["state"] != "not asked")


def test_one_that_wraps_nothing_and_claims_everything_holds_nothing(tmp_path: Path) -> None:
    results = tmp_path / "results"
    found = column(tmp_path, fake(tmp_path, "return argv"), *META, "--results", results)
    assert set(states(found)) == {"escaped"}
    assert {cell["aspect"] for cell in found["cells"]} == {"fs-metadata"}
    one = next(cell for cell in found["cells"] if cell["state"] == "escaped")
    assert one["requirement"] == "BACKEND-META-01"
    assert one["test"] in one["repro"].replace("-k '", "-k 'test_meta::")
    assert "**E**" in (tmp_path / "matrix.md").read_text()
    (kept,) = results.glob("*.json")
    page = tmp_path / "page.html"
    assert boxspec("report", kept, "--backends", kept, "--html", page).returncode == 0
    assert "BACKEND-META-01" in page.read_text()


def test_a_matrix_that_was_broken_off_goes_on_with_what_is_kept(tmp_path: Path) -> None:
    one = Cell("ipc", "probe", "test", "BACKEND-IPC-01", State.ESCAPED, "saw", "repro")
    asked = Candidate("fake", "shim", "fake")
    claims, kit = {"repo-write": {"overall": "fully"}}, {"version": "1", "commit": "a"}
    made = Column(asked, "fake 1", "none", "", claims, [one], kit)
    topics, here = ["BACKEND-IPC", "BACKEND-META"], {"release": "6.1"}
    kept.write(tmp_path, made, topics, here)
    same = (here, "fake 1", kit)
    assert kept.read(tmp_path, asked, [*reversed(topics)], *same) == made
    # To another question, from another shim, product, kit or host, it is no answer.
    assert kept.read(tmp_path, asked, ["BACKEND-IPC"], *same) is None
    assert kept.read(tmp_path, Candidate("fake", "other", "fake"), topics, *same) is None
    assert kept.read(tmp_path, asked, topics, {"release": "6.2"}, "fake 1", kit) is None
    assert kept.read(tmp_path, asked, topics, here, "fake 2", kit) is None
    assert kept.read(tmp_path, asked, topics, here, "fake 1", {**kit, "commit": "b"}) is None
    # One that is not whole is made again.
    kept.write(tmp_path, Column(asked, why="did not end within 3 s", cells=[one]), topics, here)
    assert kept.read(tmp_path, asked, TOPICS, *same) is None
    (tmp_path / "columns" / "fake.json").write_text("{}")
    assert kept.read(tmp_path, asked, topics, *same) is None
    assert boxspec("matrix", "none", "--resume").returncode == 2


@pytest.mark.parametrize(("misses", "whole"), [(2, True), (3, False)])
def test_claims_that_come_too_late_for_once_are_asked_again(
    misses: int, whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Column] = []

    def claims(column: Column) -> None:
        asked.append(column)
        if len(asked) <= misses:
            raise Failure("the request has a result", "a result", "did not return")
        column.claims = {"repo-write": {"overall": "fully"}}

    monkeypatch.setattr(judged, "_claims", claims)
    monkeypatch.setattr(judged, "_run", lambda *_: None)
    column = judged.judged(Candidate("fake", "shim", "fake"), list(TOPICS), 1)
    assert (len(asked), not column.why) == (3, whole)


def cell_of(test: str, **more: str) -> dict[str, str]:
    return {"test": test, "state": "held", "saw": "", **more}


def test_two_matrices_are_compared_cell_by_cell(tmp_path: Path) -> None:
    facts = {"name": "a", "version": "1", "cells": [cell_of("x"), cell_of("y"), cell_of("z")]}
    columns: list[dict[str, Any]] = [facts, {"name": "c", "cells": []}]
    made = {"schema": "boxspec-matrix/1", "host": {"root": True}, "backends": columns}
    changed = [cell_of("x", state="escaped"), cell_of("y", saw="another thing")]
    others = [{**facts, "version": "2", "cells": changed}, {**facts, "name": "b"}]
    others.append({"name": "c", "cells": [cell_of("x")]})
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    first.write_text(json.dumps(made))
    same = boxspec("matrix", "--compare", first, first)
    assert (same.returncode, same.stdout) == (0, "differences: 0; backends: 2; cells: 3\n")
    # Who asked is told, and is no difference.
    kits = ({"version": "1", "commit": commit * 20, "modified": commit == "b"} for commit in "ab")
    for file, kit in zip((first, second), kits, strict=True):
        file.write_text(json.dumps({**made, "backends": [{**facts, "kit": kit}]}))
    told = boxspec("matrix", "--compare", first, second)
    assert told.stdout == (
        "differences: 0; backends: 1; cells: 3; asked by: 1 (aaaaaaaaaa), 1 (bbbbbbbbbb, changed)\n"
    )
    first.write_text(json.dumps(made))
    second.write_text(json.dumps({**made, "host": {"root": False}, "backends": others}))
    done = boxspec("matrix", "--compare", first, second)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "host: root: True, then False",
        "a: version: '1', then '2'",
        "a, x: state: 'held', then 'escaped'",
        "a, y: saw: '', then 'another thing'",
        "a, z: only in the first",
        "c: cells: 0, then 1",
        "b: only in the second",
        "differences: 7; backends: 2; cells: 3",
    ]
    for text in ("{", '{"schema": "boxspec-matrix/1"}', '{"schema": "boxspec-result/1"}'):
        second.write_text(text)
        assert boxspec("matrix", "--compare", first, second).returncode == 2
    assert boxspec("matrix", "--compare", first, tmp_path / "none.json").returncode == 2


@pytest.mark.parametrize(
    ("told", "each", "kept"),
    [
        (
            "a process /root/.cache/boxspec/backends/codex/tmp/arg0-linux/codex-arg0{}/sandbox "
            "--cwd",
            ("n5nw3T", "bMG7lJ"),
            "a process /root/.cache/boxspec/backends/codex/tmp/... --cwd",
        ),
        (
            "a process /srv/bin/sandbox -w /var/tmp/cases/boxspec/{}",
            ("7304", "1156", "22-a1_b", "7-"),
            "a process /srv/bin/sandbox -w CASE",
        ),
    ],
    ids=["a folder for each call", "a path that is cut off in its pid"],
)
def test_what_is_another_for_each_call_is_no_difference(
    told: str, each: tuple[str, ...], kept: str
) -> None:
    saw = {
        cell(
            {
                "id": "contracts/backend/tests/test_proc.py::test_nothing_lives_on",
                "requirements": ["BACKEND-PROC-01"],
                "verdict": "fails",
                "reason": told.format(made),
            },
            {},
            "shim",
            "codex",
        ).saw
        for made in each
    }
    assert saw == {kept}


def test_one_that_wraps_nothing_and_says_so_is_no_contradiction(tmp_path: Path) -> None:
    claims = '{"fs-write": "nothing is confined", "fs-metadata": "nothing is confined"}'
    found = column(tmp_path, fake(tmp_path, "return argv", claims), *META)
    assert set(states(found)) == {"unclaimed"}


@pytest.mark.turns(5)
def test_one_that_refuses_everything_holds_nothing(tmp_path: Path) -> None:
    """It starts its positive control, and nothing else."""
    command = "return argv if argv == ['/bin/true'] else ['/bin/false']"
    found = column(tmp_path, fake(tmp_path, command), *META)
    assert set(states(found)) == {"unproven"}


def test_one_that_starts_nothing_is_unavailable_in_its_own_words(tmp_path: Path) -> None:
    command = "return ['/bin/sh', '-c', 'echo no luck here >&2; exit 9']"
    found = column(tmp_path, fake(tmp_path, command), *META)
    assert found["cells"] == []
    assert found["why"] == "unavailable here: no luck here (status 9)"


def test_one_that_claims_without_a_product_is_unavailable(tmp_path: Path) -> None:
    file = fake(tmp_path, "return [self.found(), *argv]")
    file.write_text(file.read_text().replace('"env"', '"no-such-sandbox"'))
    found = column(tmp_path, file, *META)
    assert found["cells"] == []
    assert "there is no program no-such-sandbox" in found["why"]


def test_one_that_hangs_is_not_waited_for(tmp_path: Path) -> None:
    found = column(tmp_path, fake(tmp_path, "return ['/bin/sleep', '1000']"), *META)
    assert found["cells"] == []
    assert "it did not end within 10 s" in found["why"]


def test_one_whose_runs_hang_ends_with_the_limit(tmp_path: Path) -> None:
    command = "return argv if argv == ['/bin/true'] else ['/bin/sleep', '1000']"
    found = column(tmp_path, fake(tmp_path, command), *META, "--limit", "3")
    assert "did not end within 3 s" in found["why"]
    assert "held" not in states(found)


@pytest.mark.turns(5)
def test_a_product_that_is_here_is_asked_for_real(tmp_path: Path) -> None:
    said = json.loads(run([SHIM, "bwrap", "--starts"]).stdout)
    if said["why_not"]:
        pytest.skip(f"bwrap: {said['why_not']}")
    first, second = (matrix(tmp_path, "bwrap", *META) for _ in range(2))
    assert set(states(first["backends"][0])) == {"held"}
    assert first == second


@pytest.mark.parametrize("product", sorted(PEERS.glob("products/*.py")), ids=lambda p: p.stem)
def test_an_adapter_is_short_and_says_what_it_is(product: Path) -> None:
    name = product.stem.replace("_", "-")
    if name == "--init--":
        return
    assert len(product.read_text().splitlines()) <= 60
    said = run([SHIM, name, "--facts"])
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout)["documents"]


def test_a_new_one_passes_smoke_and_is_short(tmp_path: Path) -> None:
    done = boxspec("backends", "new", "my-box", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    file = tmp_path / "my_box.py"
    assert len(file.read_text().splitlines()) <= 60
    assert "NAME" not in file.read_text()
    smoked = boxspec("smoke", "--shim", f"{SHIM} {file}")
    assert smoked.returncode == 0, smoked.stderr
    again = boxspec("backends", "new", "my-box", cwd=tmp_path)
    assert again.returncode == 2
    assert "is there already" in again.stderr


def test_an_adapter_that_is_no_adapter_is_named(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("import no_such_module\n")
    done = boxspec("matrix", file)
    assert done.returncode == 2
    assert "no_such_module" in done.stderr
    assert boxspec("matrix", "nobody").returncode == 2


def test_an_installation_that_fails_says_why(tmp_path: Path) -> None:
    file = fake(tmp_path, "return argv")
    text = file.read_text().replace('"env"', '"no-such-sandbox"')
    failing = '    installs = (("/bin/sh", "-c", "echo error: no such package >&2; exit 1"),)\n'
    file.write_text(text.replace("    claims", f"{failing}    claims"))
    done = boxspec("backends", "install", file)
    assert done.returncode == 3
    assert "cannot be installed: /bin/sh: error: no such package" in done.stdout
    facts = json.loads(run([SHIM, file, "--facts"]).stdout)
    Path(f"{facts['home']}.failed").unlink()


def test_a_command_keeps_its_callers_descriptors_and_session(tmp_path: Path) -> None:
    """Else a product would get credit for what the kit has tidied up."""
    file = fake(tmp_path, "return argv")
    inside = "readlink /proc/$$/fd/9; cut -d' ' -f6 /proc/$$/stat"
    message = {
        "id": "1",
        "op": "backend.run",
        "backend": "fake",
        "context": {"root": str(tmp_path), "profile": "repo-write"},
        "on_unavailable": "degrade",
        "calls": [{"request": {"program": "/bin/sh", "args": ["-c", inside]}}],
    }
    answer = ask(["/bin/sh", "-c", 'exec 9</; exec "$0" "$@"', SHIM, file], message, tmp_path)
    said = answer["result"]["calls"][0]["result"]["stdout"].split()
    session = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[3]
    assert said == ["/", session]
