"""Read the requirements of each version of the specification.

The list of a version is frozen when the version is released, so `--spec 1.0` always counts the same
requirements. A requirement that was added later has a later `since`.
"""

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
    """Return the versions that have a frozen list, the oldest first."""
    found = {path.stem.removeprefix("spec-") for path in CONTRACTS.glob(f"*/{SET.format('*')}")}
    return sorted(found, key=lambda each: [int(part) for part in each.split(".")])


@cache
def frozen(version: str) -> Mapping[str, tuple[str, str]]:
    """Return the requirements of a version, each with its level and profile in that version."""
    found: dict[str, tuple[str, str]] = {}
    for path in sorted(CONTRACTS.glob(f"*/{SET.format(version)}")):
        for name, words in yaml.safe_load(path.read_bytes()).items():
            level, profile = words.split()
            now = load().get(name)
            if now is None or not now.testable or (now.level, now.profile) != (level, profile):
                problem = f"{name} is {level}, {profile} there, and requirements.yaml differs"
                remedy = (
                    "a published version never changes; change the requirement in a new version"
                )
                raise UsageError(str(path), problem, remedy)
            found[name] = (level, profile)
    return found
