"""The requirements of each version of the spec, as they were when it came out: `--spec 1.0` counts
the same ones for ever. What comes later has another `since` and is no part of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import yaml

from boxspec.errors import UsageError
from boxspec.judge.requirements import load
from boxspec.places import CONTRACTS

SET = "spec-{}.yaml"


@cache
def versions() -> list[str]:
    """Those that have a set, the oldest first."""
    found = {path.stem.removeprefix("spec-") for path in CONTRACTS.glob(f"*/{SET.format('*')}")}
    return sorted(found, key=lambda each: [int(part) for part in each.split(".")])


@cache
def frozen(version: str) -> Mapping[str, tuple[str, str]]:
    """Each requirement that is scored under a version, to its level and profile there."""
    found: dict[str, tuple[str, str]] = {}
    for path in sorted(CONTRACTS.glob(f"*/{SET.format(version)}")):
        for name, words in yaml.safe_load(path.read_bytes()).items():
            level, profile = words.split()
            now = load().get(name)
            if now is None or not now.testable or (now.level, now.profile) != (level, profile):
                problem = f"{name} is {level}, {profile} there, and requirements.yaml differs"
                remedy = "a requirement of a version stays as it is; change comes with a new one"
                raise UsageError(str(path), problem, remedy)
            found[name] = (level, profile)
    return found
