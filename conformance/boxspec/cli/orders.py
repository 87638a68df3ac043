"""The verb `orders`: force the events of a run into many orders, and judge each."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence

from boxspec.cli.arguments import shim_flag
from boxspec.cli.verbs import verb_parser
from boxspec.errors import UsageError
from boxspec.judge.failure_block import heading
from boxspec.judge.verdict import Verdict
from boxspec.places import COMMAND
from boxspec.printable import one_line
from boxspec.programs import programs
from boxspec.subject.client.command import shim_argv
from boxspec.subject.contract import every, find
from boxspec.subject.orders.explore import Order, Orders, Outcome, chosen, outcomes
from boxspec.subject.orders.ptrace import unsupported
from boxspec.words import count, natural

USUAL = 500
USUAL_CONTRACT = "exec"
EPILOG = """\
An order is a scenario and choices: at decision 4 of exit-term, the caller receives SIGTERM, is
exit-term/4=TERM. All orders with no choice run first, then all with one, then all with two, up to
-n; of the last length a sample is run, chosen by --seed.

exit codes: 0 no order breaks a law; 1 one does; 2 wrong usage; 3 orders cannot be forced here."""


def main(words: Sequence[str]) -> int:
    parser = verb_parser("orders", EPILOG)
    shim_flag(parser)
    add = parser.add_argument
    add("--contract", default=USUAL_CONTRACT, help="exec (default), process or module")
    add("-n", dest="most", type=count, default=USUAL, help=f"at most N orders (default: {USUAL})")
    add("-j", dest="jobs", type=count, default=1, metavar="N", help="N orders at once")
    add("--seed", type=natural, default=0, metavar="N", help="seed of the sample")
    add("--scenario", action="append", metavar="NAME", help="only this scenario (repeatable)")
    add("--order", action="append", metavar="SEED", help="only this order, with its trace")
    args = parser.parse_args(words)
    if why := unsupported():
        print(why)
        return 3
    declared = find(args.contract)
    if not declared.orders:
        known = ", ".join(each.name for each in every() if each.orders)
        raise UsageError(f"--contract {args.contract}", "has no orders", f"known: {known}")
    of: Orders = declared.load_orders()
    if args.order:
        return _again(args, of)
    return _explore(args, of)


def _again(args: argparse.Namespace, of: Orders) -> int:
    """Run each of these orders twice, in separate processes, and show its trace."""
    status = 0
    for seed in args.order:
        order = Order.parse(seed)
        first, second = outcomes(shim_argv(args.shim), programs.puppet, of, [order] * 2, 2)
        if first.not_forced:
            print(f"{seed} cannot be forced: {first.not_forced}")
            return 3
        print("\n".join(shortened(first.trace)))
        same = "the same trace twice" if first.digest == second.digest else "two different traces"
        print(f"\n{seed}: {same}")
        for each in first.missed:
            print(f"not forced: {each} was not possible at that decision")
        for law in first.violations:
            print(f"\n{heading(law.requirement, Verdict.FAILS)}")
            print(f"  law       {law.law}\n  expected  {law.expected}\n  actual    {law.actual}")
            status = 1
    return status


def _explore(args: argparse.Namespace, of: Orders) -> int:
    began = time.monotonic()
    names = args.scenario or [each.name for each in of.scenarios]
    level = [Order(of.scenario(name).name) for name in names]
    done: list[Outcome] = []
    lines = []
    for choices in range(sys.maxsize):
        run = chosen(level, args.most - len(done), args.seed)
        if not run:
            break
        found = list(outcomes(shim_argv(args.shim), programs.puppet, of, run, args.jobs))
        done += found
        which = f"all {len(run):,}" if len(run) == len(level) else f"{len(run):,} of {len(level):,}"
        lines.append(f"{which} orders with {choices} choice{'' if choices == 1 else 's'}")
        level = [order for each in found for order in each.next]
    for block in blocks(done, args.contract, args.shim):
        print(f"{block}\n")
    _summary(of, done, lines, time.monotonic() - began)
    if all(each.not_forced for each in done):
        return 3
    return int(any(each.violations for each in done))


def _summary(of: Orders, done: Sequence[Outcome], lines: Sequence[str], seconds: float) -> None:
    distinct = len({each.digest for each in done if not each.not_forced})
    bad = sum(bool(each.violations) for each in done)
    print("; ".join(lines))
    which = f"{len(done):,} orders, {distinct:,} different traces"
    print(f"{which}, {bad:,} break a law ({seconds:.0f} s)")
    reasons = Counter(each.not_forced for each in done if each.not_forced)
    missed = sum(bool(each.missed) for each in done)
    if missed:
        reasons["a choice was not possible at its decision"] = missed
    for reason, number in sorted(reasons.items()):
        print(f"not forced: {number:,} orders, because {reason}")
    for event, why in of.not_forced.items():
        print(f"in no order: {event} ({why})")


def blocks(done: Sequence[Outcome], contract: str, shim: str | None) -> Iterator[str]:
    """Yield a failure block for each law that is broken in a scenario: the shortest order."""
    kinds: dict[tuple[str, str, str], list[Outcome]] = {}
    for each in done:
        for law in each.violations:
            key = (each.order.scenario, law.requirement, law.law)
            kinds.setdefault(key, []).append(each)
    for (_, requirement, name), broken in kinds.items():
        first = broken[0]
        law = next(each for each in first.violations if each.law == name)
        flag = "" if contract == USUAL_CONTRACT else f" --contract {contract}"
        flag += f" --shim {shlex.quote(shim)}" if shim else ""
        more = f" ({len(broken) - 1} more orders break it)" if len(broken) > 1 else ""
        rows = [
            heading(requirement, Verdict.FAILS),
            f"  law       {name}{more}",
            f"  expected  {law.expected}",
            f"  actual    {law.actual}",
            "  order",
            *(f"    {line}" for line in shortened(first.trace)),
            f"  repro     {COMMAND} orders{flag} --order {shlex.quote(first.order.seed)}",
        ]
        yield "\n".join(one_line(row) for row in rows)


def shortened(trace: Sequence[str]) -> list[str]:
    """Return a trace in which a block of lines that repeats is shown once."""
    texts = [line.partition(" ms  ")[2].partition("  [")[0] for line in trace]
    rows: list[str] = []
    at = 0
    while at < len(trace):
        size, times = max(
            ((size, _repeats(texts, at, size)) for size in range(1, 13)),
            key=lambda found: found[0] * (found[1] - 1),
        )
        rows += trace[at : at + size] if times > 2 else trace[at : at + 1]
        if times > 2:
            rows.append(f"{'':>11}... {size} lines, {times} times in all")
        at += size * times if times > 2 else 1
    return rows


def _repeats(texts: Sequence[str], at: int, size: int) -> int:
    block, times = texts[at : at + size], 1
    while texts[at + times * size : at + (times + 1) * size] == block:
        times += 1
    return times
