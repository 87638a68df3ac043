"""The table of kinds of mistakes of policy and sbpl names tests that exist, and leaves no place."""

from __future__ import annotations

import yaml

from boxspec.places import ROOT

CONTRACTS = ROOT / "conformance" / "contracts"


def test_each_place_has_tests_or_a_reason() -> None:
    table = yaml.safe_load((CONTRACTS / "kinds-policy.yaml").read_text(encoding="utf-8"))
    for kind, row in table["kinds"].items():
        assert set(row["places"]) == set(table["operations"]), kind
        for contract, place in row["places"].items():
            assert place, (kind, contract)
            for test in place if isinstance(place, list) else ():
                file, _, function = test.partition("::")
                text = (CONTRACTS / contract / file).read_text(encoding="utf-8")
                assert f"def {function}(" in text, test
