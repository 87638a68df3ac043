"""Tests of the default backend: without --backend a run judges the strongest one that starts
here."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from boxspec.judge.verdict import Failure
from contracts.backend.strongest import choose
from selftest.tools import REFERENCE, boxspec

# The claims of each backend for two aspects.
CLAIMS: dict[str, dict[str, str]] = {
    "none": {},
    "weak": {"fs-write": "fully", "network": "partial"},
    "strong": {"fs-write": "fully", "network": "fully"},
    "as-strong": {"fs-write": "fully", "network": "fully"},
    "broken": {},
}


def case(*names: str, named: str | None = None) -> Any:
    def probe(profile: str, *, backend: str, within_s: float) -> Any:
        if backend == "broken":
            raise Failure("the probe", "an answer", "none")
        aspects = {name: {"claim": claim} for name, claim in CLAIMS[backend].items()}
        return SimpleNamespace(ok=True, result={"overall": "partial", "aspects": aspects})

    session = SimpleNamespace(backend=named, chosen={})
    client = SimpleNamespace(named={name: {} for name in names}, probe=probe)
    return SimpleNamespace(backend=client, session=session)


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (("none", "weak", "strong"), "strong"),
        (("strong", "weak"), "strong"),
        (("as-strong", "strong"), "as-strong"),
        (("broken", "weak"), "weak"),
    ],
)
def test_the_backend_with_most_claims_is_chosen(names: tuple[str, ...], chosen: str) -> None:
    made = case(*names)
    choose(made)
    rest = [name for name in names if name not in (chosen, "none")]
    assert made.session.chosen == {"backend": (chosen, rest)}


def test_a_named_backend_or_a_single_one_is_not_compared() -> None:
    for made in (case("weak", "strong", named="weak"), case("none", "weak")):
        choose(made)
        assert made.session.chosen == {}


def test_the_result_and_the_command_to_repeat_name_the_chosen_backend(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    words = ("--topic", "BACKEND-PROBE", "-k", "overall", "--json", file)
    done = boxspec("run", "--contract", "backend", "--shim", REFERENCE, *words)
    result = json.loads(file.read_text())
    chosen = result["selection"]["chosen"]["backend"]
    assert f"backend: {chosen}, the strongest that starts here; --backend NAME" in done.stdout
    assert f"--backend {chosen} " in result["tests"][0]["repro"]
