"""Make the builds for fuzzing: one for each engine, and one that replays inputs."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from boxspec.errors import HarnessError, UsageError
from boxspec.fuzz.targets import CHECKOUT, PACKAGE, Target
from boxspec.places import INSTALLED, ROOT

PRESETS = {"libfuzzer": "fuzz-libfuzzer", "afl": "fuzz-afl"}

# The build that replays the findings of both engines. It is libFuzzer's build, because this has the
# sanitizers. The replay driver decodes cases; every build has one.
JUDGE = PRESETS["libfuzzer"]
DECODER = "release"
REFERENCE = ROOT / "build" / DECODER / "reference" / "boxspec-ref"


def binary(preset: str, target: Target) -> Path:
    return ROOT / "build" / preset / "fuzz" / target.name


def mutator(target: Target) -> Path | None:
    """Return the AFL++ mutator library of a target."""
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
    """Configure and build the missing targets. If all targets exist, print nothing.

    An installed kit has only the programs of the package boxspec-fuzz, and no programs for AFL++.
    """
    if INSTALLED:
        absent = [each for each in presets if not all(binary(each, one).is_file() for one in some)]
        if PRESETS["afl"] in absent:
            problem = "needs targets that only a checkout can build, with AFL++"
            raise UsageError("--engine afl", problem, f"leave it out, or {CHECKOUT}")
        if absent:
            raise UsageError("boxspec fuzz", "the package boxspec-fuzz is incomplete", PACKAGE)
        return
    _run("ci/setup", "--fuzz")
    for preset in dict.fromkeys(presets):
        _run("ci/build", preset)
        for target in some:
            if not binary(preset, target).is_file():
                raise HarnessError(f"{preset} has no target {target.name}")
