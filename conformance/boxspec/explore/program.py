"""Generate programs: a seed and a number always give the same calls.

Each choice takes the next bytes of a hash of seed and number. So a program depends neither on other
programs nor on the version of Python.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from boxspec.errors import UsageError
from boxspec.explore.table import ANY, NONE, Operation, Weighted, table

MOST_CALLS = 6
SLOTS = 4
# If a descriptor is open, four of eight calls use a descriptor.
USES_DESCRIPTOR = 4
# Two of eight paths or listeners are the same as in the previous call.
AGAIN = 2
BYTES = 96


@dataclass(frozen=True)
class Call:
    """One call. An operand is 0 if the operation does not use it."""

    operation: Operation
    p: int = 0
    via: int = 0
    q: int = 0
    s: int = 0
    m: int = 0

    @property
    def code(self) -> str:
        """Return the six bytes that fixtures/programs/steps.c reads, in hexadecimal."""
        return bytes((self.operation.number, self.p, self.via, self.q, self.s, self.m)).hex()

    @property
    def words(self) -> str:
        known, of = table(), self.operation
        via = known.vias[self.via].words
        first = known.targets[self.p].words + (f" (through {via})" if via else "")
        made = of.words.replace("{p}", first).replace("{q}", known.targets[self.q].words)
        made = made.replace("{s}", f"descriptor {self.s}")
        if of.choices:
            made = made.replace(f"{{m:{of.choices}}}", known.picks[of.choices][self.m].words)
        return f"{made}, as descriptor {self.s}" if of.makes != NONE else made


Program = tuple[Call, ...]


class _Numbers:
    """A sequence of numbers from the hash of a text."""

    def __init__(self, text: str) -> None:
        self._bytes = hashlib.shake_128(text.encode()).digest(BYTES)
        self._at = 0

    def below(self, limit: int) -> int:
        self._at += 2
        return int.from_bytes(self._bytes[self._at - 2 : self._at], "little") % limit

    def weighted(self, sums: Sequence[int]) -> int:
        """Return a random index with the given weights; `sums` are the sums of the weights up to
        each index."""
        found = self.below(sums[-1])
        return next(index for index, most in enumerate(sums) if found < most)


@cache
def _sums(of: str) -> tuple[int, ...]:
    each: Sequence[Weighted] = table().targets if of == "targets" else table().vias
    return tuple(accumulate(entry.weight for entry in each))


@cache
def _free() -> tuple[Operation, ...]:
    return tuple(each for each in table().operations if each.takes == NONE)


@cache
def _takers(kind: str) -> tuple[Operation, ...]:
    return tuple(each for each in table().operations if each.takes in (kind, ANY))


def program(seed: int, number: int) -> Program:
    """Return the program with this number."""
    dice = _Numbers(f"{seed}/{number}")
    made: list[Call] = []
    kinds: list[str] = []
    last = Call(_free()[0])
    for _ in range(1 + dice.below(MOST_CALLS)):
        slot = 0
        if kinds and dice.below(8) < USES_DESCRIPTOR:
            slot = dice.below(len(kinds))
            some = _takers(kinds[slot])
            of = some[dice.below(len(some))]
        else:
            some = _free()
            of = some[dice.below(len(some))]
        again = dice.below(8) < AGAIN
        p = q = via = m = 0
        if of.uses("p"):
            p = last.p if again else dice.weighted(_sums("targets"))
            via = dice.weighted(_sums("vias"))
        if of.uses("q"):
            q = dice.weighted(_sums("targets"))
        if of.choices:
            many = len(table().picks[of.choices])
            m = last.m if again and last.operation.choices == of.choices else dice.below(many)
        if of.makes != NONE and of.takes == NONE and len(kinds) < SLOTS:
            slot = len(kinds)
            kinds.append(of.makes)
        elif of.makes != NONE:
            # The new descriptor replaces the one that the call has used.
            kinds[slot] = of.makes
        last = Call(of, p, via, q, slot, m)
        made.append(last)
    return tuple(made)


def code(calls: Sequence[Call]) -> str:
    return "".join(each.code for each in calls)


def digest(calls: Sequence[Call]) -> bytes:
    """Return 8 bytes that are equal for equal programs."""
    return hashlib.blake2b(code(calls).encode(), digest_size=8).digest()


@dataclass(frozen=True)
class Part:
    """Some calls of a program: `1234:0,3` are the first and the fourth call of program 1234."""

    number: int
    chosen: tuple[int, ...] | None = None

    @classmethod
    def parse(cls, word: str) -> Part:
        found = re.fullmatch(r"(\d+)(?::(\d+(?:,\d+)*))?", word)
        if found is None:
            problem = "is not a program"
            raise UsageError(f"--program {word}", problem, "write NUMBER or NUMBER:CALL,CALL")
        chosen = tuple(int(each) for each in found[2].split(",")) if found[2] else None
        return cls(int(found[1]), chosen)

    def calls(self, seed: int) -> Program:
        whole = program(seed, self.number)
        if self.chosen is None:
            return whole
        if max(self.chosen) >= len(whole):
            problem = f"the program has {len(whole)} calls"
            raise UsageError(f"--program {self}", problem, "the first call has the number 0")
        return tuple(whole[each] for each in self.chosen)

    def __str__(self) -> str:
        if self.chosen is None:
            return str(self.number)
        return f"{self.number}:{','.join(map(str, self.chosen))}"


def described(calls: Sequence[Call]) -> Iterator[str]:
    """Yield the calls as a numbered list in plain words."""
    for number, each in enumerate(calls, 1):
        yield f"{number}. {each.words}"
