"""The verb `orders`: force the events of a run into many orders, and judge each."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence

from boxspec.cli import settings
from boxspec.cli.arguments import check_topics, shim_flag
from boxspec.cli.order_faults import count_faults
from boxspec.cli.verbs import verb_parser
from boxspec.errors import UsageError
from boxspec.judge.failure_block import heading
from boxspec.judge.repro import RunFlags, repro_command
from boxspec.judge.verdict import Verdict
from boxspec.plural import many
from boxspec.printable import one_line
from boxspec.programs import programs
from boxspec.subject.client.command import shim_argv
from boxspec.subject.contract import every, find, names
from boxspec.subject.orders.explore import (
    Order,
    Orders,
    Outcome,
    broken_laws,
    outcomes,
    shortened,
    shortest,
)
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
    about = f"run at most N orders (default: {USUAL})"
    add("-n", dest="most", type=count, default=USUAL, metavar="N", help=about)
    add("-j", "--jobs", type=count, default=1, metavar="N", help="run N orders in parallel")
    add(
        "--seed",
        type=natural,
        default=0,
        metavar="N",
        help="seed that selects the orders of the last length",
    )
    add("--scenario", action="append", metavar="NAME", help="only this scenario (repeatable)")
    add("--order", action="append", metavar="ORDER", help="only this order, with its trace")
    add(
        "--faults",
        action="append",
        metavar="TOPIC",
        help="run against the seeded faults of this topic, instead of a shim",
    )
    args = settings.parse(parser, words)
    if why := unsupported():
        print(why)
        return 3
    if args.order:
        return repeat_orders(args.order, args.shim, args.contract)
    if args.faults:
        check_topics("--faults", args.faults)
        return count_faults(args.faults, args.most, args.jobs)
    return _explore(args, _orders_of(args.contract))


def _orders_of(contract: str) -> Orders:
    declared = find(contract)
    if not declared.orders:
        known = ", ".join(each.name for each in every() if each.orders)
        raise UsageError(f"--contract {contract}", "has no orders", f"known: {known}")
    of: Orders = declared.load_orders()
    return of


def repeat_orders(seeds: Sequence[str], shim: str | None, contract: str = USUAL_CONTRACT) -> int:
    """Run each of these orders twice, in separate processes, and show its trace.

    seeds: orders of this contract. An order that begins with `NAME/` belongs to the contract NAME.
    """
    status = 0
    for seed in seeds:
        name, _, rest = seed.partition("/")
        of = _orders_of(name if name in names() else contract)
        order = Order.parse(rest if name in names() else seed)
        first, second = outcomes(shim_argv(shim), programs.puppet, of, [order] * 2, 2)
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
    wanted = args.scenario or [each.name for each in of.scenarios]
    done: list[Outcome] = []
    lines = []
    scenarios = [of.scenario(name) for name in wanted]
    levels = shortest(
        shim_argv(args.shim), programs.puppet, of, scenarios, args.most, args.jobs, args.seed
    )
    for choices, (found, total) in enumerate(levels):
        done += found
        which = f"all {total:,}" if len(found) == total else f"{len(found):,} of {total:,}"
        lines.append(f"{which} orders with {many(choices, 'choice')}")
    for block in _blocks(done, args.contract, args.shim):
        print(f"{block}\n")
    _summary(of, done, lines, time.monotonic() - began)
    if all(each.not_forced for each in done):
        return 3
    return int(any(each.violations for each in done))


def _summary(of: Orders, done: Sequence[Outcome], lines: Sequence[str], seconds: float) -> None:
    distinct = len({each.digest for each in done if not each.not_forced})
    bad = sum(bool(each.violations) for each in done)
    print("; ".join(lines))
    reasons = Counter(each.not_forced for each in done if each.not_forced)
    missed = sum(bool(each.missed) for each in done)
    if missed:
        reasons["a choice was not possible at its decision"] = missed
    for reason, number in sorted(reasons.items()):
        print(f"not forced: {number:,} orders, because {reason}")
    for event, why in of.not_forced.items():
        print(f"in no order: {event} ({why})")
    which = f"{many(len(done), 'order')}, {many(distinct, 'different trace')}"
    print(f"{which}, {bad:,} break a law ({seconds:.0f} s)")


def _blocks(done: Sequence[Outcome], contract: str, shim: str | None) -> Iterator[str]:
    """Yield a failure block for each law that a scenario breaks, with the shortest order."""
    for broken in broken_laws(done):
        first, law, others = broken.first, broken.violation, broken.count - 1
        more = f" ({others} more orders break it)" if others else ""
        order = f"{contract}/{first.order.seed}"
        rows = [
            heading(law.requirement, Verdict.FAILS),
            f"  law       {law.law}{more}",
            f"  expected  {law.expected}",
            f"  actual    {law.actual}",
            "  order",
            *(f"    {line}" for line in shortened(first.trace)),
            f"  repro     {repro_command(['--order', order], RunFlags(shim))}",
        ]
        yield "\n".join(one_line(row) for row in rows)
