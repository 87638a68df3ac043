"""Tests of contracts/kinds*.yaml: for each kind of mistake and each operation there is a test, or a
reason."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from boxspec.places import ROOT

CONTRACTS = ROOT / "conformance" / "contracts"
# For each table: the folder of each of its operations.
FOLDERS = {
    "kinds.yaml": {"exec": "exec", "process": "process", "bridge": "process", "module": "module"},
    "kinds-policy.yaml": {"policy": "policy", "sbpl": "sbpl"},
    "kinds-backend.yaml": {"backend": "backend"},
}
TABLES: dict[str, dict[str, Any]] = {
    name: yaml.safe_load((CONTRACTS / name).read_text("utf-8")) for name in FOLDERS
}
ROWS = [(name, kind) for name, table in TABLES.items() for kind in table["kinds"]]
# Each table has a row for each of these.
KINDS = {f"C{number}" for number in range(1, 22)}
# A reason must be a sentence and not a single word.
SHORTEST_REASON = 30


@cache
def functions_of(path: Path) -> set[str]:
    """Return the test functions of a file that decide a requirement."""
    text = path.read_text("utf-8")
    return set(re.findall(r"^def (test_\w+)\(", text, re.MULTILINE))


def places_of(table: str, kind: str) -> dict[str, Any]:
    """Return the tests or the reason of each operation. A row may have one reason for all."""
    places = TABLES[table]["kinds"][kind]["places"]
    return dict.fromkeys(FOLDERS[table], places) if isinstance(places, str) else places


def test_each_table_is_checked() -> None:
    assert {path.name for path in CONTRACTS.glob("kinds*.yaml")} == FOLDERS.keys()


@pytest.mark.parametrize("table", TABLES)
def test_each_operation_has_a_folder(table: str) -> None:
    assert TABLES[table]["operations"].keys() == FOLDERS[table].keys()


@pytest.mark.parametrize("table", TABLES)
def test_each_kind_has_a_row(table: str) -> None:
    assert KINDS - TABLES[table]["kinds"].keys() == set()


@pytest.mark.parametrize(("table", "kind"), ROWS)
def test_no_place_is_empty_without_a_reason(table: str, kind: str) -> None:
    places = places_of(table, kind)
    assert places.keys() == FOLDERS[table].keys()
    short = [
        name
        for name, place in places.items()
        if not place or (isinstance(place, str) and len(place) < SHORTEST_REASON)
    ]
    assert short == []


@pytest.mark.parametrize(("table", "kind"), ROWS)
def test_each_named_test_exists(table: str, kind: str) -> None:
    missing = []
    for operation, place in places_of(table, kind).items():
        for name in [] if isinstance(place, str) else place:
            file, _, function = name.partition("::")
            path = CONTRACTS / FOLDERS[table][operation] / file
            if not path.is_file() or function not in functions_of(path):
                missing.append(f"{operation}: {name}")
    assert missing == []
