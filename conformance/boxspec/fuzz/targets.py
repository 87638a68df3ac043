"""Read the list of fuzz targets, fuzz/targets.json, and find their files."""

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
# The command that installs a target which an installed kit lacks.
PACKAGE = "pip install 'boxspec[fuzz]'"
CHECKOUT = "unpack the source archive and call ./ci/boxspec fuzz there"
# If an input for shim_diff (support/shim_gen.h) has this first byte, its batch has only one
# request.
ONE_ALONE = 192
# If an input for shim_diff has this second byte, the rest of the input is the text of policy files.
TEXTS = 248


@dataclass(frozen=True, eq=False)
class Target:
    """A fuzz target.

    oracles: the name of each oracle, and its meaning if it reports a finding.
    mutator: a library for AFL++; libFuzzer's build contains the mutator already.
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
        """Return the folders in the checkout that have inputs for the target."""
        places = (FUZZ / kind / self.name for kind in ("corpus", "regressions"))
        return [place for place in places if place.is_dir()]


@cache
def every() -> dict[str, Target]:
    """Return all targets by name, in the order of the file."""
    if INSTALLED and not LIST.is_file():
        raise UsageError("boxspec fuzz", "the package boxspec-fuzz is not installed", PACKAGE)
    try:
        entries = json.loads(LIST.read_bytes())
        found = {name: _target(name, entry) for name, entry in entries.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as why:
        raise HarnessError(f"{LIST} is not a list of targets: {why}") from None
    # Other targets test the reference, which users of an installed kit do not build.
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
        # libFuzzer refuses to start if its dictionary file is missing.
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
    """Return the description of some targets and their oracles, by default of all."""
    lines = []
    for target in some or every().values():
        lines.append(f"{target.name}: {target.checks}")
        lines.append(f"  input     {target.input}, at most {target.max_len} bytes")
        width = max(len(oracle) for oracle in target.oracles)
        lines += [f"  oracle    {name:<{width}}  {says}" for name, says in target.oracles.items()]
    return "\n".join(lines)
