"""Tests of the goldens: they are the reference's exact output, and each text allows exactly the
paths that its request allows."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from contracts.sbpl import generators, goldens
from contracts.sbpl.grammar import strange
from contracts.sbpl.mac import setup_of
from contracts.sbpl.meaning import Meaning
from contracts.sbpl.text import CHANGES, READS, UNLINK, Text
from selftest.tools import FAKE, REFERENCE, converse

SHAPES = {shape.name: shape for shape in goldens.shapes()}
SLASHES = "slashes"


@cache
def answers() -> dict[str, Any]:
    """Return the answers to all requests, from one session."""
    asked = [{"id": name, **shape.request} for name, shape in SHAPES.items()]
    return {answer["id"]: answer for answer in converse([REFERENCE], asked)}


def test_there_are_enough_shapes() -> None:
    assert len(SHAPES) >= 30


@pytest.mark.parametrize("name", SHAPES)
def test_the_reference_writes_the_golden(name: str) -> None:
    assert answers()[name]["result"]["text"].encode() == SHAPES[name].text


@pytest.mark.parametrize("name", SHAPES)
def test_a_golden_is_made_of_the_clauses_of_the_page(name: str) -> None:
    assert strange(Text(SHAPES[name].text).data) == []


@pytest.mark.parametrize("name", [name for name in SHAPES if name != SLASHES])
def test_a_golden_decides_as_its_request_means(name: str) -> None:
    """Compare the stored file with the evaluator and the oracle; no implementation runs."""
    setup = setup_of(SHAPES[name].request)
    assert setup is not None
    text, meaning, chance = Text(SHAPES[name].text, setup.root), Meaning(setup), random.Random(3)
    paths = [generators.absolute(setup, path) for path in generators.paths(chance, setup, 60)]
    paths += [*meaning.places(), "/usr/x", "/", "/Users/u", *map(str, setup.side_roots)]
    asked = 0
    for path in paths:
        for operations, meant in (
            (CHANGES, meaning.may_modify),
            ((UNLINK,), meaning.may_unlink),
            (READS, meaning.may_read),
        ):
            wanted = meant(path)
            if wanted is not None:
                text.expect(name, {path: wanted}, operations)
                asked += 1
    assert asked > 30


# The command --------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("subtree", "glob"):
        for file in (SHAPES[name].file, SHAPES[name].golden):
            (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


def test_unchanged_goldens_are_reported_as_such(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert goldens.compare(None, False, folder) == 0
    assert capsys.readouterr().out == "2 shapes, 0 differ\n"


def test_a_difference_is_shown_and_written_only_on_request(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golden = folder / "glob.sb"
    right = golden.read_bytes()
    golden.write_bytes(right.replace(b"(deny default)", b"(allow default)"))
    wrong = golden.read_bytes()
    assert goldens.compare(None, False, folder) == 1
    shown = capsys.readouterr().out
    assert "-(allow default)\n+(deny default)\n" in shown
    assert shown.endswith("2 shapes, 1 differ\n")
    assert golden.read_bytes() == wrong
    assert goldens.compare(None, True, folder) == 0
    assert "-(allow default)\n+(deny default)\n" in capsys.readouterr().out
    assert golden.read_bytes() == right


def test_a_new_shape_differs_and_a_text_without_request_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "glob.sb").unlink()
    (folder / "gone.sb").write_text("(version 1)\n")
    assert goldens.compare(None, False, folder) == 1
    shown = capsys.readouterr().out
    assert "gone.sb has no request" in shown
    assert "2 shapes, 1 differ" in shown


def test_a_request_that_is_refused_is_bad_usage(folder: Path) -> None:
    from boxspec.errors import UsageError

    request = json.loads((folder / "glob.json").read_text())
    (folder / "glob.json").write_text(json.dumps({**request, "root": "ws"}))
    with pytest.raises(UsageError, match="glob"):
        goldens.compare(None, False, folder)
    with pytest.raises(UsageError, match=r"glob is answered|glob:"):
        goldens.compare(f"{FAKE} honest", False, folder)
