"""The verb `explore`: run generated programs in a sandbox, and watch their effects outside."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from boxspec.cli import settings
from boxspec.cli.arguments import shim_flag
from boxspec.cli.fuzz import seconds
from boxspec.cli.verbs import verb_parser
from boxspec.errors import UsageError
from boxspec.explore.finding_block import finding_block
from boxspec.explore.program import Part, described
from boxspec.explore.promote import paths, promote
from boxspec.explore.sandbox import ASPECTS, CommandSandbox, Sandbox, ShimSandbox
from boxspec.explore.search import Explored, Explorer
from boxspec.plural import many
from boxspec.printable import one_line
from boxspec.subject.client.command import shim_argv
from boxspec.subject.contract import every
from boxspec.subject.session import Session
from boxspec.subject.trust import trust
from boxspec.terminal import Terminal
from boxspec.verify.command import Command
from boxspec.verify.janitor import Janitor
from boxspec.words import command_after_dashes, count, natural

USUAL_S = 60.0
PROFILE = "no-network"
ABOUT = """\
Generates short programs of system calls from a seed, runs thousands of them in each start of a
sandbox, and watches files, sockets, processes, queues and memory outside. The sandbox is a backend
of a shim, or COMMAND, a prefix as in `boxspec verify`. The programs use only files and processes
that the kit makes, and none runs unless the kit sees from outside that its process is confined."""
EPILOG = """\
A finding is an effect of an aspect that the backend claims fully; for COMMAND any effect outside.
The same seed gives the same programs. conformance/explore.md explains the rest.

exit codes: 0 no finding; 1 findings, with a block for each; 2 wrong usage; 3 no program could be
run."""


def parser() -> argparse.ArgumentParser:
    made = verb_parser("explore", EPILOG, ABOUT)
    made.usage = "boxspec explore [OPTION…] [-- COMMAND…]"
    shim_flag(made)
    add = made.add_argument
    add("command", metavar="COMMAND", nargs="*", help="the command that confines, after --")
    about = "the sandbox backend to explore (default: the strongest one that starts here)"
    add("--backend", metavar="NAME", help=about)
    add("--profile", metavar="NAME", help=f"the profile of the sandbox (default: {PROFILE})")
    add("-n", dest="most", type=count, metavar="N", help="at most N programs")
    add(
        "--time",
        type=seconds,
        metavar="T",
        help="duration: 60s (default without -n), 10m, 2h; findings are minimised after it",
    )
    add(
        "-j",
        "--jobs",
        type=count,
        default=1,
        metavar="N",
        help="run N sandboxes in parallel (default 1)",
    )
    add(
        "--seed",
        type=natural,
        default=1,
        metavar="N",
        help="seed of the generated programs (default 1)",
    )
    add("-x", dest="fail_fast", action="store_true", help="stop at the first effect")
    add(
        "--ignore",
        action="append",
        default=[],
        choices=ASPECTS,
        metavar="ASPECT",
        help=f"no finding for effects of this aspect (repeatable): {', '.join(ASPECTS)}",
    )
    add(
        "--promote",
        metavar="PATH",
        help="write each finding as a C program, to a folder or FILE.c, and run it in the sandbox",
    )
    add(
        "--program",
        action="append",
        default=[],
        type=Part.parse,
        metavar="PROGRAM",
        help="run only this program, or some of its calls: 1234:0,3 (repeatable)",
    )
    return made


def main(words: Sequence[str]) -> int:
    own, command = command_after_dashes(words)
    args = settings.parse(parser(), own)
    if args.command:
        raise UsageError(args.command[0], "is an unexpected argument", "write -- before COMMAND")
    if command and (args.backend or args.profile):
        flag = "--backend" if args.backend else "--profile"
        raise UsageError(flag, "needs a shim, and COMMAND is not one", "leave one of them out")
    terminal = Terminal()
    with Janitor() as janitor, _sandbox(args, command) as sandbox:
        explorer = Explorer(sandbox, janitor, args.seed, terminal.status)
        if args.program:
            return _repeat_programs(explorer, args, terminal)
        limit_s = args.time or (float("inf") if args.most else USUAL_S)
        explorer.explore(args.most or 1 << 62, limit_s, args.jobs, args.fail_fast)
        explorer.minimise()
        status = _report(explorer.found, sandbox, args.seed, terminal)
        if args.promote and explorer.found.findings:
            _promote(explorer.found, sandbox, janitor, args, terminal)
        return status


@contextlib.contextmanager
def _sandbox(args: argparse.Namespace, command: Sequence[str]) -> Iterator[Sandbox]:
    if command:
        yield CommandSandbox(Command.of_caller(command), args.ignore)
        return
    with opened(args.shim, args.backend, args.profile or PROFILE, args.ignore) as sandbox:
        yield sandbox


@contextlib.contextmanager
def opened(
    shim: str | None, backend: str | None, profile: str, ignored: Sequence[str]
) -> Iterator[Sandbox]:
    """Yield a backend of a shim; by default the strongest one of the reference."""
    contract = next(each for each in every() if each.explored)
    argv = shim_argv(shim)
    session = Session(argv)
    try:
        trust(session, contracts=[])
        if contract.name not in session.capabilities:
            remedy = "explore a command instead: boxspec explore -- COMMAND"
            raise UsageError("--shim", f"does not declare {contract.name}", remedy)
        made = contract.load_explored()(session, backend, profile)
        repeat = ["--shim", shim] if shim else []
        repeat += ["--backend", made.name, "--profile", profile]
        yield ShimSandbox(argv, made, ignored, repeat)
    finally:
        session.close()


def _repeat_programs(explorer: Explorer, args: argparse.Namespace, terminal: Terminal) -> int:
    for part in args.program:
        terminal.write(f"program {part}")
        terminal.block(f"  {line}" for line in described(part.calls(args.seed)))
    batch = explorer.again(args.program)
    if batch.problem:
        terminal.write(one_line(f"no program was run: {batch.problem}"))
        return 3
    for effect in batch.effects:
        terminal.write(one_line(f"effect [{effect.aspect}]: {effect.shown}"))
    if not batch.effects:
        terminal.write("no effect outside")
    return int(bool(batch.effects))


def _promote(
    found: Explored,
    sandbox: Sandbox,
    janitor: Janitor,
    args: argparse.Namespace,
    terminal: Terminal,
) -> None:
    into = Path(args.promote)
    (into.parent if into.suffix == ".c" else into).mkdir(parents=True, exist_ok=True)
    for finding, path in zip(found.findings, paths(into, found.findings), strict=True):
        shows = promote(finding, args.seed, path, sandbox, janitor)
        does = "has the effect" if shows else "does not have the effect"
        terminal.write(f"{path}: {does} inside")


def _report(found: Explored, sandbox: Sandbox, seed: int, terminal: Terminal) -> int:
    terminal.clear()
    if found.problem and not found.programs:
        terminal.write(one_line(f"no program was run: {found.problem}"))
        return 3
    for finding in found.findings:
        terminal.block(finding_block(finding, sandbox, seed))
        terminal.write()
    for effect in found.others:
        terminal.write(one_line(f"also [{effect.aspect}]: {effect.kind}"))
    for effect in found.own:
        terminal.write(one_line(f"without a program too [{effect.aspect}]: {effect.shown}"))
    if found.problem:
        terminal.write(one_line(f"stopped early: {found.problem}"))
    watched = ", ".join(sorted(sandbox.counted)) or "nothing"
    rate = found.programs / found.seconds if found.seconds else 0
    kinds = len(found.findings) + len(found.others)
    effects = f"{many(kinds, 'kind')} of effects" if kinds else "no effect"
    terminal.write(f"{sandbox.name}: seed {seed}; judged: {watched}")
    terminal.write(
        f"{found.programs:,} programs, {len(found.digests):,} of them distinct,"
        f" with {found.calls:,} calls ({found.succeeded:,} succeeded) in"
        f" {found.starts:,} starts and {found.seconds:.0f} s ({rate:,.0f} programs a second);"
        f" {effects} outside"
    )
    if kinds:
        return 1
    return 3 if found.problem else 0
