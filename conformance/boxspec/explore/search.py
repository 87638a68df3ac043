"""Explore a sandbox: run batches of programs, and minimise one finding for each kind of effect."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from boxspec.explore.batch import Batch, run
from boxspec.explore.effects import Effect
from boxspec.explore.minimise import minimised
from boxspec.explore.program import Part, Program, digest
from boxspec.explore.sandbox import Sandbox
from boxspec.verify.janitor import Janitor

# The number of programs in one start. A larger number makes a program cheaper; a smaller number
# makes it easier to find the program that had an effect.
BATCH = 2000
# The number of kinds of effects that are minimised.
MOST_FINDINGS = 5

Key = tuple[str, str]


@dataclass(frozen=True)
class Finding:
    """An effect, and the calls that cause it.

    parts: calls of one program, or of several programs in this order.
    again: True if these calls caused the effect in one more run.
    """

    effect: Effect
    parts: tuple[Part, ...]
    again: bool


@dataclass
class Explored:
    """The outcome of an exploration.

    own: the effects of the sandbox without a program.
    digests: the digests of the programs that ran. Short programs with different numbers may be
        equal.
    """

    programs: int = 0
    calls: int = 0
    succeeded: int = 0
    starts: int = 0
    seconds: float = 0.0
    own: list[Effect] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    # Further kinds of effects, which are not minimised.
    others: list[Effect] = field(default_factory=list)
    digests: set[bytes] = field(default_factory=set)
    problem: str = ""
    # The time until the first effect in seconds, or None.
    first_s: float | None = None


class Explorer:
    """Explores with one seed. `jobs` sandboxes run at the same time."""

    def __init__(
        self, sandbox: Sandbox, janitor: Janitor, seed: int, tell: Callable[[str], None]
    ) -> None:
        self._sandbox, self._janitor, self._seed, self._tell = sandbox, janitor, seed, tell
        self._lock = threading.Lock()
        self._next = 0
        self._began = 0.0
        self._stopped = threading.Event()
        self.found = Explored()
        # For each kind of effect: the first effect of this kind, and the numbers of the programs
        # that ran in the same batch.
        self._seen: dict[Key, tuple[Effect, list[int]]] = {}
        self._own: set[Key] = set()

    def explore(self, most: int, seconds: float, jobs: int, stop_at_first: bool = False) -> None:
        """Run programs 0 to `most` - 1, or as many as the time allows."""
        began = self._began = time.monotonic()
        empty = self._start([])
        self.found.problem, self.found.own = empty.problem, empty.effects
        self._own = {each.key for each in empty.effects}
        if self.found.problem:
            return
        until = began + seconds
        try:
            with ThreadPoolExecutor(jobs) as pool:
                works = [pool.submit(self._work, most, until, stop_at_first) for _ in range(jobs)]
                try:
                    for work in works:
                        work.result()
                except BaseException:
                    self._stopped.set()
                    raise
        finally:
            self.found.seconds = time.monotonic() - began

    def again(self, parts: Sequence[Part]) -> Batch:
        """Run these parts of programs in one start."""
        return self._start([part.calls(self._seed) for part in parts])

    def _start(self, some: Sequence[Program]) -> Batch:
        batch = run(self._sandbox, self._janitor, some)
        with self._lock:
            found = self.found
            found.starts += 1
            found.programs += batch.ran
            found.calls += batch.calls
            found.succeeded += batch.succeeded
            found.digests.update(map(digest, some[: batch.ran]))
        batch.effects = [each for each in batch.effects if each.key not in self._own]
        return batch

    def _take(self, most: int) -> range:
        with self._lock:
            first = self._next
            self._next = min(most, first + BATCH)
            return range(first, self._next)

    def _work(self, most: int, until: float, stop_at_first: bool) -> None:
        while not self._stopped.is_set() and time.monotonic() < until:
            numbers = self._take(most)
            if not numbers:
                return
            while numbers and not self._stopped.is_set():
                batch = self._start([Part(number).calls(self._seed) for number in numbers])
                self._note(batch, list(numbers[: batch.ran] if batch.ran else numbers))
                if batch.problem or (stop_at_first and self._seen):
                    self.found.problem = self.found.problem or batch.problem
                    self._stopped.set()
                # The batch may have reached its time limit before its last program.
                numbers = numbers[max(1, batch.ran) :]

    def _note(self, batch: Batch, numbers: list[int]) -> None:
        with self._lock:
            if batch.effects and self.found.first_s is None:
                self.found.first_s = time.monotonic() - self._began
            for effect in batch.effects:
                self._seen.setdefault(effect.key, (effect, numbers))
            rate = f"{self.found.programs:,} programs"
            if self._seen:
                rate += f", {len(self._seen)} kinds of effects"
        self._tell(rate)

    @property
    def seen(self) -> list[Effect]:
        """Return the first effect of each kind."""
        return [effect for effect, _ in self._seen.values()]

    def minimise(self) -> None:
        """Find the calls that cause the effect, for the first kinds of effects."""
        seen = list(self._seen.values())
        self.found.others = [effect for effect, _ in seen[MOST_FINDINGS:]]
        for number, (effect, numbers) in enumerate(seen[:MOST_FINDINGS], 1):
            self._tell(f"minimising finding {number} of {min(len(seen), MOST_FINDINGS)}")
            self.found.findings.append(self._finding(effect, numbers))
        self.found.seconds = time.monotonic() - self._began

    def _finding(self, effect: Effect, numbers: list[int]) -> Finding:
        def shows(parts: Sequence[Part]) -> bool:
            return effect.key in {each.key for each in self.again(parts).effects}

        if effect.program is not None:
            # The effect names its program: the program inside has reported its number.
            whole = [Part(numbers[effect.program])]
            parts = whole if shows(whole) else [Part(each) for each in numbers]
        else:
            parts = [Part(each) for each in numbers]
        if len(parts) > 1:
            parts = minimised(parts, shows)
        single = [
            (part.number, index) for part in parts for index in range(len(part.calls(self._seed)))
        ]
        few = minimised(single, lambda some: shows(_parts(some)))
        made = _parts(few)
        return Finding(effect, tuple(made), shows(made))


def _parts(calls: Sequence[tuple[int, int]]) -> list[Part]:
    """Return the parts of programs that have these calls, in their order."""
    numbers = dict.fromkeys(number for number, _ in calls)
    return [Part(number, tuple(index for of, index in calls if of == number)) for number in numbers]
