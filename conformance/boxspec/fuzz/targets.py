"""The fuzz targets of fuzz/targets.json, and the paths of their files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from boxspec.errors import HarnessError, UsageError
from boxspec.places import INSTALLED, ROOT

FUZZ = ROOT / "fuzz"
LIST = FUZZ / "targets.json"
# Remedy for a target that an installed kit lacks.
PACKAGE = "pip install 'boxspec[fuzz]'"
CHECKOUT = "unpack the source archive and call ./ci/boxspec fuzz there"
# First byte of a shim_diff input (support/shim_gen.h): run only the first request of a batch.
ONE_ALONE = 192
# Second byte of a shim_diff input: policy files follow verbatim.
TEXTS = 248


@dataclass(frozen=True, eq=False)
class Target:
    """One target.

    oracles: the meaning of each oracle when it fires.
    mutator: the library that AFL++ loads for it; libFuzzer has it in the target.
    """

    name: str
    checks: str
    input: str
    max_len: int
    oracles: Mapping[str, str]
    dictionary: Path | None
    shim: bool
    mutator: str | None

    @property
    def seeds(self) -> list[Path]:
        """Return the folders of the tree that hold inputs."""
        places = (FUZZ / kind / self.name for kind in ("corpus", "regressions"))
        return [place for place in places if place.is_dir()]


@cache
def every() -> dict[str, Target]:
    """Return all targets by name, in the order of the list of targets."""
    if INSTALLED and not LIST.is_file():
        raise UsageError("boxspec fuzz", "the package boxspec-fuzz is not installed", PACKAGE)
    try:
        entries = json.loads(LIST.read_bytes())
        found = {name: _target(name, entry) for name, entry in entries.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as why:
        raise HarnessError(f"{LIST} is not a list of targets: {why}") from None
    # The other targets test the reference, which users of an installed kit do not build.
    return {name: each for name, each in found.items() if each.shim or not INSTALLED}


def _target(name: str, entry: Mapping[str, object]) -> Target:
    named_dictionary = entry.get("dictionary")
    dictionary = FUZZ / "dictionaries" / str(named_dictionary) if named_dictionary else None
    oracles = entry["oracles"]
    max_len = entry["max_len"]
    if not isinstance(oracles, dict) or not isinstance(max_len, int):
        raise TypeError(name)
    return Target(
        name=name,
        checks=str(entry["checks"]),
        input=str(entry["input"]),
        max_len=max_len,
        oracles=oracles,
        # libFuzzer does not start if its dictionary file is missing.
        dictionary=dictionary if dictionary is not None and dictionary.is_file() else None,
        shim=bool(entry.get("shim")),
        mutator=str(entry["mutator"]) if "mutator" in entry else None,
    )


def named(name: str) -> Target:
    found = every().get(name)
    if found is None and INSTALLED:
        remedy = f"use {', '.join(every())}; for other targets {CHECKOUT}"
        raise UsageError(name, "is not a target of the package boxspec-fuzz", remedy)
    if found is None:
        raise UsageError.unknown(name, "target", name, every(), "boxspec fuzz --list")
    return found


def list_targets(some: Sequence[Target] = ()) -> str:
    """Return the description of targets and their oracles; by default of all targets."""
    lines = []
    for target in some or every().values():
        lines.append(f"{target.name}: {target.checks}")
        lines.append(f"  input     {target.input}, at most {target.max_len} bytes")
        width = max(len(oracle) for oracle in target.oracles)
        lines += [f"  oracle    {name:<{width}}  {says}" for name, says in target.oracles.items()]
    return "\n".join(lines)
