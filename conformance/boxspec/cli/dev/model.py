"""The verb `dev model`: check the models of the contracts exhaustively."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from boxspec.cli.arguments import shim_flag
from boxspec.cli.dev.model_orders import compare
from boxspec.cli.verbs import verb_parser
from boxspec.errors import UsageError
from boxspec.plural import many
from boxspec.subject.orders.model import Checked, Mistake, Model, check, models
from boxspec.words import count

Job = tuple[Model, str, Mistake | None]


def main(words: Sequence[str]) -> int:
    about = (
        "Check each model within all of its bounds, and each deliberate mistake: no law may be\n"
        "broken without a mistake, and each mistake must break its law; exit 1 otherwise.\n"
        "With --orders: force orders of an implementation, and check that its model can make the\n"
        "same events in the same order; exit 1 if it cannot."
    )
    parser = verb_parser("dev model", about=about)
    add = parser.add_argument
    add(
        "-j",
        "--jobs",
        type=count,
        default=2,
        metavar="N",
        help="run N checks in parallel (default: 2)",
    )
    add("--contract", help="only the model of this contract")
    add("--mistake", metavar="NAME", help="only this mistake, with the order of events")
    add("--orders", type=count, metavar="N", help="compare at most N forced orders with the model")
    shim_flag(parser)
    args = parser.parse_args(words)
    if args.orders:
        return compare(models(), args.contract, args.orders, args.jobs, args.shim)
    chosen = [each for each in models() if args.contract in (None, each.contract)]
    if not chosen:
        known = ", ".join(each.contract for each in models())
        raise UsageError(f"--contract {args.contract}", "has no model", f"known: {known}")
    if args.mistake:
        return _show(chosen, args.mistake)
    jobs: list[Job] = [(model, bounds, None) for model in chosen for bounds in model.bounds]
    jobs += [(model, each.bounds, each) for model in chosen for each in model.mistakes]
    with ThreadPoolExecutor(args.jobs) as pool:
        wrong = 0
        for job, checked in zip(jobs, pool.map(lambda job: check(*job), jobs), strict=True):
            wrong += _print(*job, checked)
    print(f"{len(jobs)} checks, {wrong} with another result than expected")
    return int(wrong > 0)


def _print(model: Model, bounds: str, mistake: Mistake | None, checked: Checked) -> bool:
    """Print a row of the table. Return True if the result is not the expected one."""
    expected = mistake.law if mistake else None
    what = mistake.name if mistake else " ".join(model.bounds[bounds])
    broken = f"breaks {checked.law}, {many(len(checked.events), 'event')}"
    law = broken if checked.law else "no broken law"
    bad = checked.law != expected
    mark = f"  EXPECTED {expected or 'no broken law'}" if bad else ""
    print(
        f"{model.contract:<8}{bounds:<9}{checked.states:>11,} states  {what}: {law}{mark}",
        flush=True,
    )
    if bad:
        print("\n".join(f"    {event}" for event in checked.events))
    return bad


def _show(chosen: Sequence[Model], name: str) -> int:
    for model in chosen:
        for mistake in model.mistakes:
            if mistake.name == name:
                checked = check(model, mistake.bounds, mistake)
                print(f"{name}: {mistake.about}")
                print("\n".join(f"    {event}" for event in checked.events))
                print(f"broken law: {checked.law}")
                return int(checked.law != mistake.law)
    known = ", ".join(each.name for model in chosen for each in model.mistakes)
    raise UsageError(f"--mistake {name}", "is not a mistake of a model", f"known: {known}")
