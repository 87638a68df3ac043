"""Every oracle of every target fires when the answers that it judges are falsified."""

from __future__ import annotations

from pathlib import Path

import pytest

from boxspec.fuzz import report, targets, trees
from selftest.tools import REFERENCE, Done, run

ORACLES = [(target, oracle) for target in targets.every().values() for oracle in target.oracles]


def fuzz(target: targets.Target, env: dict[str, str], folder: Path) -> Done:
    """From the seeds of the tree on, until something is found."""
    (folder / "corpus").mkdir()
    argv = [trees.binary(trees.JUDGE, target), "-seed=1", "-max_total_time=20", "-handle_abrt=0"]
    argv += [f"-max_len={target.max_len}", f"-artifact_prefix={folder}/", folder / "corpus"]
    return run([*argv, *target.seeds], env=env, cwd=folder)


@pytest.mark.parametrize(
    ("target", "oracle"), ORACLES, ids=[f"{target.name}-{oracle}" for target, oracle in ORACLES]
)
def test_an_oracle_fires(target: targets.Target, oracle: str, tmp_path: Path) -> None:
    env = {"BOXSPEC_FUZZ_SHIM": str(REFERENCE), "BOXSPEC_FUZZ_LIE": f"3:{oracle}"}
    done = fuzz(target, env, tmp_path)
    found = report.read(done.stderr)
    assert found is not None, done.stderr[-2000:]
    assert found.oracle == oracle, found
