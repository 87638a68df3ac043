"""Tests of third-party sandboxes: adapters, the verb `products`, and matrices of fake products."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from boxspec.judge.verdict import Failure
from boxspec.products import declared, judging
from boxspec.products.declared import Product, product
from boxspec.products.judging import Judged, Question
from contracts.backend.products import view
from contracts.backend.products.cells import cell
from selftest.products.fake_product import PRODUCTS, SHIM, fake
from selftest.tools import boxspec, run

pytestmark = pytest.mark.turns(6)

META = ("--topic", "BACKEND-META")


def matrix(folder: Path, *words: str | Path) -> dict[str, Any]:
    out = folder / "matrix.json"
    done = boxspec("products", "matrix", *words, "--json", out, "--md", folder / "matrix.md")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def column(folder: Path, *words: str | Path) -> dict[str, Any]:
    (one,) = matrix(folder, *words)["backends"]
    found: dict[str, Any] = one
    return found


def states(found: dict[str, Any]) -> Counter[str]:
    """Count the states of the tested cells.

    No adapter has strict_metadata, so its cells are not tested.
    """
    return Counter(cell["state"] for cell in found["cells"] if cell["state"] != "not asked")


def test_a_product_that_wraps_nothing_and_claims_everything_holds_nothing(tmp_path: Path) -> None:
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


@pytest.mark.turns(6)
def test_a_resumed_matrix_judges_only_products_without_a_stored_result(tmp_path: Path) -> None:
    words = (fake(tmp_path, "return argv"), *META, "--results", tmp_path / "results")
    first = matrix(tmp_path, *words)
    again = boxspec("products", "matrix", *words, "--resume", "--json", tmp_path / "again.json")
    assert "fake is kept" in again.stderr
    assert json.loads((tmp_path / "again.json").read_text()) == first
    assert boxspec("products", "matrix", "none", "--resume").returncode == 2


def test_a_kept_answer_is_used_only_for_the_same_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, here = product("none"), {"release": "6.1"}
    question = Question(topics=["BACKEND-IPC", "BACKEND-META"])
    (tmp_path / "none.json").write_text("{}")
    result = object()
    monkeypatch.setattr(judging, "last_result", lambda *_: result)

    def answer(product: Product, question: Question, host: dict[str, Any]) -> object:
        return judging.kept_answer(product, question, host, tmp_path)

    # A result that is not complete must not be stored.
    judging.keep(Judged(one, why="did not end within 3 s"), question, here, tmp_path)
    assert answer(one, question, here) is None
    judging.keep(Judged(one), question, here, tmp_path)
    assert answer(one, Question(topics=["BACKEND-META", "BACKEND-IPC"], limit_s=1), here) is result
    assert answer(one, Question(topics=["BACKEND-IPC"]), here) is None
    assert answer(one, question, {"release": "6.2"}) is None
    assert answer(replace(one, version=["echo", "2"]), question, here) is None
    assert answer(replace(one, run=["other"]), question, here) is None
    monkeypatch.setattr(judging, "kit", lambda: {"version": "1", "commit": "b"})
    assert answer(one, question, here) is None
    (tmp_path / "columns" / "none.json").write_text("{")
    assert answer(one, question, here) is None


@pytest.mark.parametrize(("misses", "whole"), [(2, True), (3, False)])
def test_late_claims_are_requested_again(
    misses: int, whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Judged] = []

    def claims(judged: Judged) -> None:
        asked.append(judged)
        if len(asked) <= misses:
            raise Failure("the request has a result", "a result", "did not return")
        judged.claims = {"profiles": {"repo-write": {"overall": "fully"}}}

    monkeypatch.setattr(view, "_ask_claims", claims)
    judged = Judged(product("none"))
    view.Matrix().ask(judged)
    assert (len(asked), not judged.why) == (3, whole)


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
    same = boxspec("products", "matrix", "--compare", first, first)
    assert (same.returncode, same.stdout) == (0, "differences: 0; products: 2; cells: 3\n")
    # The comparison names the kits that judged, but another kit does not count as a difference.
    kits = ({"version": "1", "commit": commit * 20, "modified": commit == "b"} for commit in "ab")
    for file, kit in zip((first, second), kits, strict=True):
        file.write_text(json.dumps({**made, "backends": [{**facts, "kit": kit}]}))
    told = boxspec("products", "matrix", "--compare", first, second)
    assert told.stdout == (
        "differences: 0; products: 1; cells: 3; asked by: 1 (aaaaaaaaaa), 1 (bbbbbbbbbb, changed)\n"
    )
    first.write_text(json.dumps(made))
    second.write_text(json.dumps({**made, "host": {"root": False}, "backends": others}))
    done = boxspec("products", "matrix", "--compare", first, second)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "host: root: True, then False",
        "a: version: '1', then '2'",
        "a, x: state: 'held', then 'escaped'",
        "a, y: saw: '', then 'another thing'",
        "a, z: only in the first",
        "c: cells: 0, then 1",
        "b: only in the second",
        "differences: 7; products: 2; cells: 3",
    ]
    for text in ("{", '{"schema": "boxspec-matrix/1"}', '{"schema": "boxspec-result/1"}'):
        second.write_text(text)
        assert boxspec("products", "matrix", "--compare", first, second).returncode == 2
    assert boxspec("products", "matrix", "--compare", first, tmp_path / "none.json").returncode == 2


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
            "a process /srv/bin/sandbox -w /var/tmp/cases/{}",
            ("fjord-0bae70/build", "fjord-0b", "delta_del", "Grovec7", "0ae80d.bi"),
            "a process /srv/bin/sandbox -w CASE",
        ),
    ],
    ids=["a folder for each call", "a path that is cut off in a name"],
)
def test_paths_that_differ_between_calls_are_no_difference(
    told: str, each: tuple[str, ...], kept: str
) -> None:
    saw = {
        cell(
            {
                "id": "contracts/backend/tests/test_proc.py::test_no_process_outlives_its_session",
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


def test_a_product_without_claims_is_no_contradiction(
    tmp_path: Path,
) -> None:
    claims = '{"fs-write": "nothing is confined", "fs-metadata": "nothing is confined"}'
    found = column(tmp_path, fake(tmp_path, "return argv", claims), *META)
    assert set(states(found)) == {"unclaimed"}


@pytest.mark.turns(10)
def test_a_product_that_refuses_everything_holds_nothing(tmp_path: Path) -> None:
    """The product starts only /bin/true, which the probe uses as its check, and refuses all other
    programs."""
    command = "return argv if argv == ['/bin/true'] else ['/bin/false']"
    found = column(tmp_path, fake(tmp_path, command), *META)
    assert set(states(found)) == {"unproven"}


def test_a_product_that_starts_nothing_is_unavailable_with_its_own_message(tmp_path: Path) -> None:
    command = "return ['/bin/sh', '-c', 'echo no luck here >&2; exit 9']"
    found = column(tmp_path, fake(tmp_path, command), *META)
    assert found["cells"] == []
    assert found["why"] == "unavailable here: no luck here (status 9)"


def test_an_adapter_without_its_product_is_not_installed(tmp_path: Path) -> None:
    file = fake(tmp_path, "return [self.found(), *argv]")
    file.write_text(file.read_text().replace('"env"', '"no-such-sandbox"'))
    found = column(tmp_path, file, *META)
    assert found["cells"] == []
    assert "there is no program no-such-sandbox" in found["why"]


def test_a_product_that_hangs_is_unavailable(tmp_path: Path) -> None:
    found = column(tmp_path, fake(tmp_path, "return ['/bin/sleep', '1000']"), *META)
    assert found["cells"] == []
    assert "it did not end within 10 s" in found["why"]


def test_a_product_whose_runs_hang_ends_at_the_limit(tmp_path: Path) -> None:
    command = "return argv if argv == ['/bin/true'] else ['/bin/sleep', '1000']"
    found = column(tmp_path, fake(tmp_path, command), *META, "--limit", "3")
    assert "did not end within 3 s" in found["why"]
    assert "held" not in states(found)


@pytest.mark.turns(10)
def test_two_matrices_of_bwrap_are_equal(tmp_path: Path) -> None:
    started = run([SHIM, "bwrap", "--starts"])
    if started.returncode:
        pytest.skip(f"bwrap: {started.stderr}")
    first, second = (matrix(tmp_path, "bwrap", *META) for _ in range(2))
    assert set(states(first["backends"][0])) == {"held"}
    assert first == second


@pytest.mark.parametrize("product", sorted(PRODUCTS.glob("sandboxes/*.py")), ids=lambda p: p.stem)
def test_an_adapter_is_short_and_names_its_documents(product: Path) -> None:
    name = product.stem.replace("_", "-")
    if name == "--init--":
        return
    assert len(product.read_text().splitlines()) <= 60
    assert declared.product(name).documents


def test_a_new_adapter_is_short_and_passes_smoke(tmp_path: Path) -> None:
    done = boxspec("products", "new", "my-box", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    file = tmp_path / "my_box.py"
    assert len(file.read_text().splitlines()) <= 60
    assert "NAME" not in file.read_text()
    smoked = boxspec("smoke", "--shim", f"{SHIM} {file}")
    assert smoked.returncode == 0, smoked.stderr
    again = boxspec("products", "new", "my-box", cwd=tmp_path)
    assert again.returncode == 2
    assert "exists already" in again.stderr


def test_a_broken_adapter_is_named(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("import no_such_module\n")
    done = boxspec("products", "matrix", file)
    assert done.returncode == 2
    assert "no_such_module" in done.stderr
    assert boxspec("products", "matrix", "no-such-product").returncode == 2


def test_a_failed_installation_names_the_reason(tmp_path: Path) -> None:
    file = fake(tmp_path, "return argv")
    text = file.read_text().replace('"env"', '"no-such-sandbox"')
    failing = '    installs = (("/bin/sh", "-c", "echo error: no such package >&2; exit 1"),)\n'
    file.write_text(text.replace("    claims", f"{failing}    claims"))
    done = boxspec("products", "install", file)
    assert done.returncode == 3
    assert "cannot be installed: sh: error: no such package" in done.stdout
    product(str(file)).stamp.unlink()


def test_a_product_that_does_not_start_cannot_be_scored(tmp_path: Path) -> None:
    command = "return ['/bin/sh', '-c', 'echo no luck here >&2; exit 9']"
    done = boxspec("smoke", "--shim", f"{SHIM} {fake(tmp_path, command)}")
    assert (done.returncode, "passed" in done.stdout) == (3, False)
    assert "cannot be judged here; backend: fake is unavailable here: no luck here" in done.stdout


def test_the_reason_is_the_error_and_not_the_advice_after_it(tmp_path: Path) -> None:
    lines = "Error: you may not use it\\nSee its manual\\n"
    command = f"return ['/bin/sh', '-c', 'printf \"{lines}\" >&2; exit 1']"
    done = run([SHIM, fake(tmp_path, command), "--starts"])
    assert (done.returncode, done.stderr) == (1, "Error: you may not use it (status 1)\n")
