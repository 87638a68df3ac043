"""Write a finding as a small C program, and show that the program has the effect."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from boxspec.compiling import FLAGS, NotCompiledError, system
from boxspec.errors import UsageError
from boxspec.explore.batch import run_program
from boxspec.explore.program import Call, described
from boxspec.explore.sandbox import Sandbox
from boxspec.explore.search import Finding
from boxspec.explore.table import NONE, table
from boxspec.programs import SOURCES
from boxspec.verify.janitor import Janitor

HEAD = """\
/* Found by `boxspec explore`: {kind} [{aspect}].
 * Seed {seed}, program {parts}:
{calls}
 *
 * Inside a sandbox: {name} PLAN. PLAN has the paths of a scene (fixtures/programs/steps/plan.c).
 * cc -static -D_GNU_SOURCE -I fixtures/programs {name}.c with the C of its folders steps and lib */
#include "steps/steps.h"

struct tally *tally;
uint32_t program_number;

/* Report the answer to a call that a filter should have refused. */
static void answer(const char *name, long result) {{
    int op = 0;
    while (strcmp(call_name(op), name) != 0)
        op++;
    if (is_surface(op) && !is_refusal(op, result))
        printf("reached=%s 0\\n", name);
}}

int main(int argc, char **argv) {{
    static struct tally own;
    int fd[SLOTS] = {{-1, -1, -1, -1}};
    if (argc != 2)
        return 64;
    tally = &own;
    plan_read(argv[1]);
    limit_time();
    setvbuf(stdout, NULL, _IONBF, 0);
    puts("ran=1 calls={count} succeeded=0");
"""
TAIL = """\
    for (uint32_t i = 0; i < own.leaks; i++)
        printf("leaked=%s 0\\n", own.leak[i]);
    (void)fd;
    return 0;
}
"""


def source(finding: Finding, seed: int, name: str) -> str:
    """Return the C source of a program that repeats a finding.

    name: the name of the program.
    """
    programs = [part.calls(seed) for part in finding.parts]
    words = [line for calls in programs for line in described(calls)]
    head = HEAD.format(
        kind=finding.effect.kind,
        aspect=finding.effect.aspect,
        seed=seed,
        parts=", ".join(map(str, finding.parts)),
        calls="\n".join(f" *   {line}" for line in words),
        name=name,
        count=len(words),
    )
    body = "".join(f"    {statement(call)}\n" for calls in programs for call in calls)
    return f"{head}{body}{TAIL}"


def statement(call: Call) -> str:
    """Return the C statement of one call: the expression of calls.def with its operands."""
    known, of = table(), call.operation
    first = f'path("{known.targets[call.p].name}", {known.vias[call.via].value})'
    made = of.expression
    if of.choices:
        value = known.picks[of.choices][call.m].value
        made = re.sub(r"M(_TEXT)?\(\w+\)", value, made)
    operands = {
        "P": first,
        "Q": f'path("{known.targets[call.q].name}", "")',
        "S": f"fd[{call.s}]",
    }
    for operand, text in operands.items():
        made = re.sub(rf"\b{operand}\b", text, made)
    if of.makes != NONE:
        return f"fd[{call.s}] = (int)({made});"
    return f'answer("{of.name}", {made});'


def compiled(path: Path, into: Path) -> Path:
    """Compile the C of a finding; raise UsageError if that fails."""
    made = into / path.stem
    sources = [str(each) for folder in ("steps", "lib") for each in SOURCES.glob(f"{folder}/*.c")]
    try:
        cc = system().programs
    except NotCompiledError as why:
        raise UsageError("--promote", str(why), "install a C compiler") from None
    words = [*cc, *FLAGS, "-static", f"-I{SOURCES}", "-o", str(made), str(path), *sources]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UsageError(str(path), f"is not compiled: {done.stderr[:400]}", "correct the file")
    return made


def promote(finding: Finding, seed: int, path: Path, sandbox: Sandbox, janitor: Janitor) -> bool:
    """Write the C to this path, and run it in the sandbox; return True if it has the effect."""
    path.write_text(source(finding, seed, path.stem), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        effects = run_program(sandbox, janitor, compiled(path, Path(folder))).effects
    return finding.effect.key in {each.key for each in effects}


def paths(into: Path, findings: Sequence[Finding]) -> list[Path]:
    """Return a path for each finding: in a folder, or the file itself for the first one."""
    if into.suffix == ".c":
        others = [into.with_stem(f"{into.stem}-{number}") for number in range(2, len(findings) + 1)]
        return [into, *others][: len(findings)]
    return [into / f"{_slug(each.effect.kind)}.c" for each in findings]


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
