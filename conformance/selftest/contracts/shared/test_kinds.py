"""contracts/kinds.yaml: each kind of mistakes is asked of each operation, or a reason is given."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from boxspec.places import ROOT

CONTRACTS = ROOT / "conformance" / "contracts"
TABLE: dict[str, Any] = yaml.safe_load((CONTRACTS / "kinds.yaml").read_text("utf-8"))
FOLDERS = {"exec": "exec", "process": "process", "bridge": "process", "module": "module"}
# A reason is a sentence, not a single word.
SHORTEST_REASON = 30


@cache
def functions_of(path: Path) -> set[str]:
    """Return the test functions of a file that decide a requirement."""
    text = path.read_text("utf-8")
    return set(re.findall(r"^def (test_\w+)\(", text, re.MULTILINE))


def test_each_operation_has_a_folder() -> None:
    assert TABLE["operations"].keys() == FOLDERS.keys()


@pytest.mark.parametrize("kind", TABLE["kinds"])
def test_no_place_is_empty_without_a_reason(kind: str) -> None:
    places = TABLE["kinds"][kind]["places"]
    assert places.keys() == FOLDERS.keys()
    short = [
        name
        for name, place in places.items()
        if not place or (isinstance(place, str) and len(place) < SHORTEST_REASON)
    ]
    assert short == []


@pytest.mark.parametrize("kind", TABLE["kinds"])
def test_each_named_test_exists(kind: str) -> None:
    missing = []
    for operation, place in TABLE["kinds"][kind]["places"].items():
        for name in [] if isinstance(place, str) else place:
            file, _, function = name.partition("::")
            path = CONTRACTS / FOLDERS[operation] / file
            if not path.is_file() or function not in functions_of(path):
                missing.append(f"{operation}: {name}")
    assert missing == []
