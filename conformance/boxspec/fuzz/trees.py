"""The builds that the verb needs: one tree for each engine, one that replays."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from boxspec.errors import HarnessError, UsageError
from boxspec.fuzz.targets import CHECKOUT, PACKAGE, Target
from boxspec.places import INSTALLED, ROOT

PRESETS = {"libfuzzer": "fuzz-libfuzzer", "afl": "fuzz-afl"}

# Findings of both engines are looked at with libFuzzer's binary, which has the sanitizers; a case
# is decoded by the replay driver, which every tree has.
JUDGE = PRESETS["libfuzzer"]
DECODER = "release"
REFERENCE = ROOT / "build" / DECODER / "reference" / "boxspec-ref"


def binary(preset: str, target: Target) -> Path:
    return ROOT / "build" / preset / "fuzz" / target.name


def mutator(target: Target) -> Path | None:
    """The library of the AFL++ tree that changes what the inputs of a target are made of."""
    if target.mutator is None:
        return None
    return ROOT / "build" / PRESETS["afl"] / "fuzz" / f"{target.mutator}.so"


def _run(*words: str) -> None:
    done = subprocess.run(
        words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=-1, text=True
    )
    if done.returncode != 0:
        raise HarnessError(f"{' '.join(words)} failed:\n{done.stderr.strip()}")


def build(some: Sequence[Target], *presets: str) -> None:
    """Sets up and builds what is missing; says nothing when nothing is.

    An installed kit has what the package boxspec-fuzz brought, which is nothing for AFL++.
    """
    if INSTALLED:
        absent = [each for each in presets if not all(binary(each, one).is_file() for one in some)]
        if PRESETS["afl"] in absent:
            problem = "needs AFL++ and its compiler, with which a checkout builds targets"
            raise UsageError("--engine afl", problem, f"leave it out, or {CHECKOUT}")
        if absent:
            raise UsageError("boxspec fuzz", "the package boxspec-fuzz is not whole", PACKAGE)
        return
    _run("ci/setup", "--fuzz")
    for preset in dict.fromkeys(presets):
        _run("ci/build", preset)
        for target in some:
            if not binary(preset, target).is_file():
                raise HarnessError(f"{preset} has no target {target.name}")
