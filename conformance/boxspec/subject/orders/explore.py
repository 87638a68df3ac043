"""Enumerate orders, and run one of them.

An order is a list of choices. A choice names a decision by its number, and the event that happens
at that decision. At a decision without a choice, the implementation continues; if it is blocked,
the first possible event happens. So in the order without choices, each event happens while the
implementation waits.
"""

from __future__ import annotations

import hashlib
import json
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from boxspec.errors import UsageError
from boxspec.folders import delete
from boxspec.subject.observe import orphans
from boxspec.subject.orders.replay import NotComparable, Replay
from boxspec.subject.orders.steps import NotForced
from boxspec.subject.orders.task import Event, Line, Note
from boxspec.subject.orders.world import World

Choices = tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Scenario:
    """A request, the script of its child, and the signals that the caller receives.

    request: fields of the request, in the form that the contract's Orders.message expects.
    signals: `TERM` may arrive at any time, `TERM@2000` not before 2,000 ms have passed.
    """

    name: str
    script: Sequence[str]
    request: Mapping[str, Any] = field(default_factory=dict)
    signals: Sequence[str] = ()
    escapes: bool = False  # a process leaves the group and keeps the pipes
    fails: bool = False  # the program cannot be started
    adopts: bool = False  # the caller of the implementation is a subreaper

    @property
    def deadline_ms(self) -> int | None:
        return self.request.get("timeout_ms")


@dataclass(frozen=True)
class Order:
    """The choices of one run of a scenario."""

    scenario: str
    choices: Choices = ()

    @property
    def seed(self) -> str:
        return f"{self.scenario}/" + ",".join(f"{at}={event}" for at, event in self.choices)

    @classmethod
    def parse(cls, seed: str) -> Order:
        name, _, rest = seed.partition("/")
        try:
            pairs = [word.split("=", 1) for word in rest.split(",") if word]
            return cls(name, tuple((int(at), event) for at, event in pairs))
        except ValueError:
            raise UsageError(seed, "is not an order", "copy the seed of a failure") from None


@dataclass
class Ran:
    """One order that was run, with its trace and its facts."""

    order: Order
    lines: list[Line]
    notes: list[Note]
    answer: Mapping[str, Any] | None
    leaders: list[int]
    hung: str | None
    exit_status: int | None
    # For each decision, the events that were possible and did not happen.
    others: list[tuple[int, list[str]]]
    missed: list[str]

    @property
    def leader(self) -> int:
        """Return the first puppet that the implementation started, or 0."""
        return self.leaders[0] if self.leaders else 0

    def trace(self) -> list[str]:
        """Return the trace for people. Repeated runs of an order give equal traces."""
        rows = []
        for line in self.lines:
            mark = "" if line.decision is None else f"  [{line.decision}]"
            rows.append(f"{line.at // 1_000_000:>7,} ms  {line.who}: {line.text}{mark}")
        if self.hung:
            rows.append(f"{'':>11}{self.hung}")
        return rows


# A function that returns the request of a scenario. It gets the path of the puppet, and a folder
# for files of the request.
Message = Callable[[Scenario, str, Path], dict[str, Any]]


def run_order(
    argv: Sequence[str], puppet: str, message: Message, scenario: Scenario, order: Order
) -> Ran:
    """Run one order in this process, which must have no other children."""
    orphans.adopt()
    folder = Path(tempfile.mkdtemp(prefix="boxspec-order-"))
    others: list[tuple[int, list[str]]] = []
    wanted = dict(order.choices)
    missed: list[str] = []

    def decide(number: int, events: Sequence[Event], usual: Event | None) -> Event | None:
        event = usual
        if number in wanted:
            name = wanted.pop(number)
            event = next((each for each in events if each.id == name), None)
            if event is None:
                missed.append(f"{number}={name}")
                event = usual
        others.append((number, [each.id for each in events if each is not usual]))
        return event

    try:
        request, response = folder / "request", folder / "answer" / "response"
        response.parent.mkdir()
        request.write_text(json.dumps({"id": "1", **message(scenario, puppet, folder)}))
        world = World(
            argv,
            str(request),
            str(response),
            puppet,
            caller_signals=scenario.signals,
            deadline_ms=scenario.deadline_ms,
            adopts=scenario.adopts,
        )
        world.run(decide)
        answer = json.loads(response.read_text()) if response.exists() else None
    finally:
        delete(folder)
    missed += [f"{at}={event}" for at, event in wanted.items()]
    return Ran(
        order,
        world.lines,
        world.notes,
        answer,
        world.leaders,
        world.hung,
        world.exit_status,
        others,
        missed,
    )


def longer(ran: Ran) -> Iterator[Order]:
    """Return this order with one more choice, once for each alternative at a decision after its
    last choice."""
    last = ran.order.choices[-1][0] if ran.order.choices else -1
    for number, events in ran.others:
        if number > last:
            for event in events:
                yield Order(ran.order.scenario, (*ran.order.choices, (number, event)))


@dataclass(frozen=True)
class Violation:
    """A law that an order breaks."""

    requirement: str
    law: str
    expected: str
    actual: str


Judge = Callable[[Scenario, Ran], list[Violation]]
Translate = Callable[[Scenario, Ran], list[Replay]]


@dataclass(frozen=True)
class Orders:
    """The orders of a contract. The declaration of the contract names this object in `orders`.

    message: makes the request of a scenario.
    not_forced: the reason for each event of the contract that no order contains.
    replay: translates an order into events of the model; None without a model. An order with
        several processes may have a replay for each process.
    model: the contract that has the model, if it is another contract.
    """

    scenarios: Sequence[Scenario]
    message: Message
    judge: Judge
    not_forced: Mapping[str, str]
    replay: Translate | None = None
    model: str = ""

    def scenario(self, name: str) -> Scenario:
        for each in self.scenarios:
            if each.name == name:
                return each
        known = ", ".join(each.name for each in self.scenarios)
        raise UsageError(name, "no such scenario", f"known: {known}")


@dataclass
class Outcome:
    """The judged run of one order, without the data that is not needed after judging."""

    order: Order
    violations: list[Violation]
    trace: list[str]
    next: list[Order]
    missed: list[str]
    not_forced: str = ""
    replays: Sequence[Replay] = ()
    not_comparable: str = ""  # why there is no replay

    @property
    def digest(self) -> str:
        text = "\n".join([self.order.scenario, *self.trace])
        return hashlib.sha256(text.encode()).hexdigest()


Job = tuple[Sequence[str], str, Orders, Scenario, Order]


def outcome_of(job: Job) -> Outcome:
    """Run and judge one order."""
    argv, puppet, of, scenario, order = job
    try:
        ran = run_order(argv, puppet, of.message, scenario, order)
    except NotForced as why:
        return Outcome(order, [], [], [], [], str(why))
    if ran.answer is not None and "unsupported" in ran.answer:
        return Outcome(order, [], [], [], [], "the shim does not support its request")
    violations = of.judge(scenario, ran)
    outcome = Outcome(order, violations, ran.trace(), list(longer(ran)), ran.missed)
    if of.replay is not None:
        try:
            outcome.replays = of.replay(scenario, ran)
        except NotComparable as why:
            outcome.not_comparable = str(why)
    return outcome


def outcomes(
    argv: Sequence[str], puppet: str, of: Orders, orders: Iterable[Order], jobs: int
) -> Iterator[Outcome]:
    """Run orders in `jobs` processes. The results have the same sequence as `orders`."""
    work = [(argv, puppet, of, of.scenario(each.scenario), each) for each in orders]
    # A worker waits for any child process, so each worker must be its own process.
    pool = get_context("fork").Pool(jobs)
    try:
        yield from pool.imap(outcome_of, work)
        pool.close()
    except BaseException:
        pool.terminate()
        raise
    finally:
        pool.join()


def chosen(orders: list[Order], most: int, seed: int) -> list[Order]:
    """Return at most `most` of these orders, chosen by a seed."""
    if len(orders) <= most:
        return orders
    kept = set(random.Random(seed).sample(range(len(orders)), most))
    return [order for at, order in enumerate(orders) if at in kept]


def shortest(
    argv: Sequence[str],
    puppet: str,
    of: Orders,
    scenarios: Sequence[Scenario],
    most: int,
    jobs: int = 1,
    seed: int = 0,
) -> Iterator[tuple[list[Outcome], int]]:
    """Run all orders without a choice, then all with one choice, and so on, up to `most` orders.

    Yield for each number of choices the outcomes, and how many orders of that number exist. If not
    all of the last number fit, a sample is run, chosen by the seed.
    """
    level = [Order(each.name) for each in scenarios]
    while run := chosen(level, most, seed):
        found = list(outcomes(argv, puppet, of, run, jobs))
        yield found, len(level)
        most -= len(found)
        level = [order for each in found for order in each.next]


@dataclass(frozen=True)
class BrokenLaw:
    """A law that orders of one scenario break.

    first: the shortest order that breaks the law.
    count: the number of orders that break the law.
    """

    first: Outcome
    violation: Violation
    count: int


def broken_laws(done: Iterable[Outcome]) -> list[BrokenLaw]:
    """Return the broken laws, one for each scenario and requirement."""
    found: dict[tuple[str, str, str], list[tuple[Outcome, Violation]]] = {}
    for each in done:
        for violation in each.violations:
            key = (each.order.scenario, violation.requirement, violation.law)
            found.setdefault(key, []).append((each, violation))
    return [BrokenLaw(*broken[0], len(broken)) for broken in found.values()]


def shortened(trace: Sequence[str]) -> list[str]:
    """Return a trace that shows a repeated block of lines only once."""
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
