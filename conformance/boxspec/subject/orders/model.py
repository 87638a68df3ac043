"""Check the models of contracts exhaustively with spin (conformance/model.md).

A model is `model.pml` in the folder of its contract. Its comments list the bounds of the checks and
the deliberate mistakes. They are read from there, so that no list must be kept twice.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from boxspec.errors import HarnessError, UsageError
from boxspec.places import CONTRACTS

BOUNDS = re.compile(r"^ \* BOUNDS (\w+) +(\w+=.*)$", re.M)
MISTAKE = re.compile(r"^#define (\w+) \d+ +/\* (\w+), (\w+): (.*) \*/$", re.M)
STATES = re.compile(r"(\d+) states, stored")
BROKEN = re.compile(r"BROKEN LAW: (\w+)")
DEPTH = 100_000


@dataclass(frozen=True)
class Mistake:
    """A deliberate mistake of a model: the law that it breaks, and the bounds that show it."""

    name: str
    law: str
    bounds: str
    about: str


@dataclass(frozen=True)
class Model:
    """A model of a contract.

    bounds: the macros that limit a check, by the name of the set of bounds.
    """

    contract: str
    path: Path
    bounds: Mapping[str, Sequence[str]]
    mistakes: Sequence[Mistake]


@dataclass(frozen=True)
class Checked:
    """The result of a check.

    states: the number of states that were visited.
    law: the broken law, or None.
    events: the events that lead to the broken law.
    """

    states: int
    law: str | None
    events: Sequence[str]


def models() -> list[Model]:
    """Return the models of all contracts."""
    return [load(path) for path in sorted(CONTRACTS.glob("*/model.pml"))]


def load(path: Path) -> Model:
    text = path.read_text(encoding="utf-8")
    bounds = {name: values.split() for name, values in BOUNDS.findall(text)}
    mistakes = [Mistake(*found) for found in MISTAKE.findall(text)]
    return Model(path.parent.name, path, bounds, mistakes)


def check(model: Model, bounds: str, mistake: Mistake | None = None) -> Checked:
    """Visit all states within the bounds, up to the first broken law."""
    macros = [f"-D{each}" for each in model.bounds[bounds]]
    if mistake:
        macros.append(f"-DMISTAKE={mistake.name}")
    with tempfile.TemporaryDirectory(prefix="boxspec-model-") as name:
        folder = Path(name)
        # The search for a mistake is breadth-first, which gives the shortest order that shows the
        # mistake.
        compile_model(model, folder, macros, ["-O1", "-DBFS"] if mistake else ["-O2"])
        told = call(folder, "./pan", f"-m{DEPTH}", expect_success=False)
        states = STATES.search(told)
        if states is None or "search depth too small" in told or "out of memory" in told:
            raise HarnessError(f"the check of {model.path} did not end: {told[-500:]}")
        trail = next(folder.glob("*.trail"), None)
        if trail is None:
            return Checked(int(states[1]), None, [])
        replay = ["spin", "-t", "-k", trail.name, *macros, str(model.path)]
        events = call(folder, *replay, expect_success=False)
    law = BROKEN.search(events)
    # If the replay ends without a broken law, the supervisor has not returned, and no further step
    # is possible.
    return Checked(int(states[1]), law[1] if law else "returns", _events(events))


def compile_model(model: Model, folder: Path, macros: Sequence[str], how: Sequence[str]) -> None:
    """Make the program `pan` in this folder.

    how: options of the C compiler.
    """
    if not shutil.which("spin"):
        raise UsageError("spin", "is not installed", "run ci/setup --model")
    call(folder, "spin", "-a", *macros, str(model.path))
    call(folder, "cc", "-w", *how, "-DSAFETY", "-o", "pan", "pan.c")


def _events(replay: str) -> list[str]:
    """Return the lines that the model printed."""
    lines = [line.strip() for line in replay.splitlines()]
    return [line for line in lines if re.match(r"[a-z]+( \d)?: ", line) and "spin:" not in line]


def call(folder: Path, *words: str, expect_success: bool = True) -> str:
    """Run a command and return its output.

    A check or a replay that finds a broken law exits with an error.
    """
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if expect_success and done.returncode:
        raise HarnessError(f"{words[0]} failed: {(done.stdout + done.stderr)[-500:]}")
    return done.stdout
