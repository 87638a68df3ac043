"""Compare forced orders of an implementation with the models (`dev model --orders`)."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from boxspec.errors import UsageError
from boxspec.judge.repro import RunFlags, repro_command
from boxspec.printable import one_line
from boxspec.programs import programs
from boxspec.subject.client.command import shim_argv
from boxspec.subject.contract import every, find
from boxspec.subject.orders.explore import Outcome, shortest
from boxspec.subject.orders.model import Model
from boxspec.subject.orders.ptrace import unsupported
from boxspec.subject.orders.replay import Replay, Replayer

# How many disagreements are shown with their events. Further ones are only counted.
MOST_SHOWN = 3


def compare(
    models: Sequence[Model], contract: str | None, most: int, jobs: int, shim: str | None
) -> int:
    """Replay at most `most` orders of each contract, or of one contract, in the model.

    Return the exit status.
    """
    if why := unsupported():
        print(why)
        return 3
    names = [each.name for each in every() if each.orders and contract in (None, each.name)]
    chosen = [name for name in names if find(name).load_orders().replay]
    if not chosen:
        raise UsageError("--orders", "are not compared with this model", "leave --contract out")
    return max(_compare(name, models, most, jobs, shim) for name in chosen)


def _compare(contract: str, models: Sequence[Model], most: int, jobs: int, shim: str | None) -> int:
    of = find(contract).load_orders()
    (model,) = [each for each in models if each.contract == (of.model or contract)]
    reasons, agreed, wrong = Counter[str](), 0, 0
    with tempfile.TemporaryDirectory(prefix="boxspec-model-") as name:
        replayer = Replayer(model, Path(name))
        levels = shortest(shim_argv(shim), programs.puppet, of, of.scenarios, most, jobs)
        for each in (outcome for outcomes, _ in levels for outcome in outcomes):
            if not each.replays:
                reasons[each.not_forced or each.not_comparable] += 1
                continue
            disagreement = _disagreement(replayer, each.replays)
            if disagreement is None:
                agreed += 1
                continue
            wrong += 1
            if wrong <= MOST_SHOWN:
                _show(contract, replayer, each, disagreement, shim)
    count = agreed + wrong + reasons.total()
    print(
        f"{contract}: {count:,} orders, {agreed:,} agree with the model, {wrong:,} disagree, "
        f"{reasons.total():,} are not compared"
    )
    for reason, number in reasons.most_common():
        print(f"not compared: {number:,} orders, because {reason}")
    return int(wrong > 0)


def _disagreement(
    replayer: Replayer, replays: Sequence[Replay]
) -> Sequence[tuple[str, int]] | None:
    """Return a replay that the model cannot make, up to the first impossible event; None if the
    model can make all replays."""
    for replay in replays:
        agreed = replayer.agreed(replay)
        if agreed < len(replay.events):
            return replay.events[: agreed + 1]
    return None


def _show(
    contract: str,
    replayer: Replayer,
    each: Outcome,
    events: Sequence[tuple[str, int]],
    shim: str | None,
) -> None:
    """Print a failure block with the events up to the first event that the model cannot make."""
    order = f"{contract}/{each.order.seed}"
    *before, last = [replayer.words(event) for event in events]
    steps = find(contract).load_orders().scenario(each.order.scenario).request.get("steps")
    of = find(contract).load_orders().model or contract
    rows = [
        f"{order}: the model of {of} cannot make this order",
        "  law       each order of events is one of the model",
        f"  expected  another event after: {before[-1] if before else 'the start'}",
        f"  actual    {last}",
        *([f"  steps     {steps}"] if steps else []),
        "  order",
        *(f"    {line}" for line in (*before, last)),
        f"  repro     {repro_command(['--order', order], RunFlags(shim))}",
    ]
    print("\n".join(one_line(row) for row in rows) + "\n")
