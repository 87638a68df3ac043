"""Tests that each oracle of each target fires when the answers that it judges are falsified."""

from __future__ import annotations

from pathlib import Path

import pytest

from boxspec.fuzz import builds, crash_report, targets
from selftest.tools import REFERENCE, run

ORACLES = [(target, oracle) for target in targets.every().values() for oracle in target.oracles]


def lied_to(oracle: str, rarely: int) -> dict[str, str]:
    """Return an environment that falsifies one answer in 2^rarely for this oracle."""
    return {"BOXSPEC_FUZZ_SHIM": str(REFERENCE), "BOXSPEC_FUZZ_LIE": f"{rarely}:{oracle}"}


@pytest.mark.turns(10)
@pytest.mark.parametrize(
    ("target", "oracle"), ORACLES, ids=[f"{target.name}-{oracle}" for target, oracle in ORACLES]
)
def test_an_oracle_fires_over_the_seeds(target: targets.Target, oracle: str) -> None:
    done = run([builds.binary(builds.DECODER, target), *target.seeds], env=lied_to(oracle, 0))
    found = crash_report.read(done.stderr)
    assert found is not None, done.stderr[-2000:]
    assert found.oracle == oracle, found


RARE = ["glob_diff-match", "path_norm-model", "policy_json-verdict", "sbpl_emit-decision"]


@pytest.mark.parametrize("name", RARE)
def test_a_rare_lie_is_found_without_seeds(name: str, tmp_path: Path) -> None:
    word, oracle = name.split("-")
    target = targets.every()[word]
    flags = ["-seed=1", "-max_total_time=30", "-handle_abrt=0"]
    flags += [f"-max_len={target.max_len}", f"-artifact_prefix={tmp_path}/"]
    binary = builds.binary(builds.JUDGE, target)
    found = crash_report.read(run([binary, *flags], env=lied_to(oracle, 6), cwd=tmp_path).stderr)
    assert found is not None
    assert found.oracle == oracle, found
