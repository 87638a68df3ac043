"""Judge a short, fixed set of orders together with a run of the suite (`run --orders`)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from boxspec.judge.record import Record
from boxspec.judge.verdict import Verdict
from boxspec.places import CONTRACTS, ROOT
from boxspec.programs import programs
from boxspec.subject.client.command import shim_argv
from boxspec.subject.contract import find
from boxspec.subject.orders.explore import Outcome, broken_laws, shortened, shortest
from boxspec.subject.orders.ptrace import unsupported
from boxspec.terminal import Terminal

# The number of orders of each contract: all orders without a choice, then some with one choice.
# They take about five seconds on a quiet machine.
ORDERS = 150


def judge_orders(
    contracts: Iterable[str],
    shim: str | None,
    console: Terminal,
    asked: Container[str] | None = None,
) -> list[Record]:
    """Run the fixed set of orders of each contract; return a record for each broken law.

    asked: the requirements whose laws are judged; None for all.
    """
    records: list[Record] = []
    for contract in [name for name in contracts if find(name).orders]:
        if why := unsupported():
            console.write(f"orders    none: {why}")
            break
        done = list(_run(contract, shim))
        for each in done:
            broken = each.violations
            each.violations = [v for v in broken if asked is None or v.requirement in asked]
        forced = sum(not each.not_forced for each in done)
        bad = sum(bool(each.violations) for each in done)
        console.write(f"orders    {contract}: {forced} of {len(done)} forced, {bad} break a law")
        records += _records(contract, done)
    return records


def _run(contract: str, shim: str | None) -> Iterator[Outcome]:
    of = find(contract).load_orders()
    for found, _ in shortest(shim_argv(shim), programs.puppet, of, of.scenarios, ORDERS, jobs=2):
        yield from found


def _records(contract: str, done: Iterable[Outcome]) -> Iterator[Record]:
    """Yield a record for each law that a scenario breaks, with the shortest order that breaks the
    law."""
    place = (CONTRACTS / contract / "orders.py").relative_to(ROOT)
    for broken in broken_laws(done):
        seed, law = broken.first.order.seed, broken.violation
        yield Record(
            id=f"{place}::{seed}",
            requirements=[law.requirement],
            verdict=Verdict.FAILS,
            what=f"{law.law}, in a forced order of events",
            expected=law.expected,
            got=law.actual,
            why=law.law,
            order=f"{contract}/{seed}",
            evidence={"order": shortened(broken.first.trace)},
        )
