"""Print a finding: the calls, the effect, the seed, and the command that repeats it."""

from __future__ import annotations

from boxspec.explore.program import described
from boxspec.explore.sandbox import Sandbox
from boxspec.explore.search import Finding
from boxspec.judge.repro import command
from boxspec.printable import one_line

EXPECTED = {
    "kernel": "the call is refused",
    "fs-read": "no secret of the policy is read",
    "read": "no secret outside is read",
}
OBSERVERS = {
    "fs-write": "the watched files outside",
    "fs-metadata": "the watched files outside",
    "fs-read": "the random content of the file, which the program printed",
    "read": "the random content of the file, which the program printed",
    "network": "a listener of the kit",
    "process": "a process of the kit, or the list of processes",
    "ipc": "a socket, pipe, queue, key or memory of the kit",
    "kernel": "the answer to the call inside",
}


def repeat_words(finding: Finding, sandbox: Sandbox, seed: int) -> list[str]:
    """Return the words after `boxspec` that run the programs of a finding again."""
    flags, rest = sandbox.repeat
    parts = [word for part in finding.parts for word in ("--program", str(part))]
    return ["explore", "--seed", str(seed), *parts, *flags, *rest]


def finding_block(finding: Finding, sandbox: Sandbox, seed: int) -> list[str]:
    effect = finding.effect
    lines = [f"{sandbox.name} [{effect.aspect}]: {effect.kind}", "  program"]
    for part in finding.parts:
        if len(finding.parts) > 1:
            lines.append(f"    program {part.number}")
        lines += [f"    {line}" for line in described(part.calls(seed))]
    lines += [
        f"  expected  {EXPECTED.get(effect.aspect, 'no effect outside the sandbox')}",
        f"  actual    {effect.shown}",
        f"  observer  {OBSERVERS[effect.aspect]}",
        f"  seed      {seed}, program {', '.join(map(str, finding.parts))}",
    ]
    if not finding.again:
        lines.append("  again     no: the effect did not happen in the last repetition")
    lines.append(f"  repro     {command(repeat_words(finding, sandbox, seed))}")
    return [one_line(line) for line in lines]
