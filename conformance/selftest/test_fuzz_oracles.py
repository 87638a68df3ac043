"""Every oracle of every target fires: on a lie about the reference, or on a bad shim."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from boxspec.fuzz import report, targets, trees
from selftest.tools import FAKE, REFERENCE, Done, run

# What a shim has to do wrong, and the fake that does it.
SHIMS = {"shim-died": "crash", "shim-hung": "hang", "shim-long": "double-answer"}
# None of the fakes leaves one request of many without an answer.
FORGETFUL = """#!/usr/bin/env python3
import json, sys
for number, line in enumerate(sys.stdin):
    if number % 5 != 4:
        answer = {"id": json.loads(line)["id"], "unsupported": {"capability": "x", "why": "y"}}
        print(json.dumps(answer), flush=True)
"""
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
    env = {"BOXSPEC_FUZZ_SHIM": str(REFERENCE)}
    if oracle == "shim-short":
        (tmp_path / "forgetful").write_text(FORGETFUL)
        (tmp_path / "forgetful").chmod(0o755)
        env["BOXSPEC_FUZZ_SHIM"] = str(tmp_path / "forgetful")
    elif oracle in SHIMS:
        env["BOXSPEC_FUZZ_SHIM"] = shlex.join([str(FAKE), SHIMS[oracle]])
    else:
        env["BOXSPEC_FUZZ_LIE"] = f"3:{oracle}"
    done = fuzz(target, env, tmp_path)
    found = report.read(done.stderr)
    assert found is not None, done.stderr[-2000:]
    assert found.oracle == oracle, found
