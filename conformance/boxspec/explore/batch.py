"""Run many programs in one start of a sandbox, and collect their effects outside."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from boxspec.explore.effects import KERNEL, WRITE, Effect, Surroundings
from boxspec.explore.program import Program, code
from boxspec.explore.proof import ConfinedWitness
from boxspec.explore.sandbox import Sandbox
from boxspec.explore.table import table
from boxspec.programs import programs
from boxspec.verify.janitor import Janitor
from boxspec.verify.launch import Ended, Start, launch
from boxspec.verify.plan import END, Plan
from boxspec.verify.scene import Scene
from boxspec.verify.witness import Witness

# Time limits for all programs of a batch together, and for the start of the sandbox.
LIMIT_S = 20.0
START_S = 30.0
# How long a sandbox may take to end the processes inside.
ENDS_S = 1.0


@dataclass
class Batch:
    """The outcome of one start.

    ran: the number of programs that were run.
    problem: the reason if no program was run, otherwise empty.
    """

    effects: list[Effect] = field(default_factory=list)
    ran: int = 0
    calls: int = 0
    succeeded: int = 0
    problem: str = ""


def run(sandbox: Sandbox, janitor: Janitor, some: Sequence[Program]) -> Batch:
    """Start the sandbox once in a new scene, and run these programs one after the other."""
    with Scene(janitor, program=programs.steps) as scene:
        around = Surroundings(scene, sandbox.ruled)
        limit = f"limit_ms={LIMIT_S * 1000:.0f}"
        lines = [*around.lines, limit, *(f"run={code(each)}" for each in some)]
        witness = ConfinedWitness(scene.program)
        plan = Plan(scene, lines, witness)
        ended = _start(sandbox, janitor, around, plan, witness)
        records = plan.records(sandbox.output(scene, ended.stdout))
        if END in records:
            return _batch(sandbox, around, records[END].output)
        batch = _batch(sandbox, around, "")
        why = sandbox.why_not(scene) or witness.why or "the program ended early"
        batch.problem = f"{why} ({ended.said})"
        return batch


def run_program(sandbox: Sandbox, janitor: Janitor, program: Path) -> Batch:
    """Start one compiled program (promote.py) in a new scene.

    The start needs no key, because the caller has already seen that the sandbox confines.
    """
    with Scene(janitor, program=str(program)) as scene:
        around = Surroundings(scene, sandbox.ruled)
        plan = Plan(scene, around.lines)
        ended = _start(sandbox, janitor, around, plan, None)
        output = sandbox.output(scene, ended.stdout).decode("utf-8", "replace")
        return _batch(sandbox, around, output)


def _start(
    sandbox: Sandbox, janitor: Janitor, around: Surroundings, plan: Plan, witness: Witness | None
) -> Ended:
    scene = around.scene
    scene.settle()
    around.settle()
    argv = sandbox.argv(scene, [str(scene.program), str(plan.path)])
    env = scene.environment(os.environ)
    flags = around.left_open if sandbox.closes else ()
    ended = launch(janitor, scene, Start(argv, env, flags, None, START_S, ENDS_S, witness))
    scene.left = ended.left
    return ended


def _batch(sandbox: Sandbox, around: Surroundings, output: str) -> Batch:
    found = Batch(around.effects())
    _read(found, output, around)
    found.effects = [each for each in found.effects if sandbox.counts(each)]
    return found


def _read(found: Batch, output: str, around: Surroundings) -> None:
    for line in output.splitlines():
        name, _, rest = line.partition("=")
        if name == "ran":
            words = dict(word.split("=") for word in line.split())
            found.ran = int(words["ran"])
            found.calls, found.succeeded = int(words["calls"]), int(words["succeeded"])
        elif name == "reached":
            operation, number = rest.split()
            found.effects += _reached(operation, int(number))
        elif name == "leaked":
            token, number = rest.split()
            effect = around.leaked(token, int(number))
            found.effects += [effect] if effect else []


def _reached(name: str, number: int) -> Iterator[Effect]:
    of = table().named(name)
    if of.judged == "OPENED":
        text = "a kernel file was opened for writing"
        yield Effect(WRITE, text, text, number)
    else:
        text = f"the call {name} was not refused"
        yield Effect(KERNEL, text, text, number)
