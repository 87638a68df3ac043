"""Match the regular expressions that are known to work in a profile.

An expression is checked first, and then run by an automaton whose states are built when they are
needed. So no expression and no path makes a match slow. No published measurement shows whether
Seatbelt counts bytes or characters, or whether a dot matches a newline. If the result depends on
one of these, it is None.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from contracts.sbpl.seatbelt.expressions import ANY, NO_NEWLINE, Class, Parser
from contracts.sbpl.seatbelt.reader import STRING_BYTES, Undecidable

# How many states may be visited to build the automata of all expressions of a profile.
BUDGET = 2_000_000
KEPT = 500


class BudgetExceeded(Exception):
    """Raised if the budget of a profile is spent."""


@dataclass
class StepBudget:
    """Counts the states that the regular expressions of a profile may still visit."""

    left: int = BUDGET

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise BudgetExceeded


class State(dict[str, "State"]):
    """A set of states of the program. Used as a dict, it maps a character to the next set."""

    def __init__(self, members: frozenset[int], accepts: bool) -> None:
        super().__init__()
        self.members, self.accepts = members, accepts


class Automaton:
    """The automaton for one reading of an expression."""

    def __init__(self, pattern: str, line: int, dot: Class, budget: StepBudget) -> None:
        parser = Parser(pattern, line, dot)
        first, self.last = parser.whole()
        self.anchored = all(begins and ends for begins, ends in parser.anchors)
        self.unknown, self.outside = parser.unknown, parser.outside
        self.ends = {self.last, parser.sink}
        self.program, self.budget = parser.program, budget
        self.first = first
        self.states: dict[frozenset[int], State] = {}

    def matches(self, text: str) -> bool:
        state = self.state([self.first])
        for character in text:
            following = state.get(character)
            if following is None:
                following = state[character] = self.step(state, character)
            state = following
        return state.accepts

    def step(self, state: State, character: str) -> State:
        takes, leads = self.program.takes, self.program.leads
        self.budget.spend(len(state.members) + 1)
        met = []
        for member in state.members:
            what = takes[member]
            if what is not None and what.takes(character):
                met.append(leads[member])
        return self.state(met)

    def state(self, members: list[int]) -> State:
        """Return the state that consists of these members and all states reached by empty
        transitions."""
        seen = set(members)
        waiting = list(seen)
        while waiting:
            for free in self.program.free[waiting.pop()]:
                if free not in seen:
                    seen.add(free)
                    waiting.append(free)
        self.budget.spend(len(seen) + 1)
        key = frozenset(seen)
        found = self.states.get(key)
        if found is None:
            if len(self.states) >= KEPT:
                self.states.clear()
            found = self.states[key] = State(key, not self.ends.isdisjoint(seen))
        return found


@dataclass(eq=False)
class Regex:
    """An expression with all readings of it."""

    pattern: bytes
    line: int
    budget: StepBudget
    _readings: dict[tuple[bool, Class], Automaton] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if len(self.pattern) > STRING_BYTES:
            raise Undecidable(self.line, f"a regular expression of more than {STRING_BYTES} bytes")
        # Anchors and unknown forms are equal in all readings.
        self.anchored = self._reading(True, ANY).anchored
        # The first unknown form in the expression, or an empty string.
        self.unknown = self._reading(True, ANY).unknown
        self.outside = self._reading(True, ANY).outside
        self._dots = b"." in self.pattern

    def _reading(self, as_bytes: bool, dot: Class) -> Automaton:
        made = self._readings.get((as_bytes, dot))
        if made is None:
            text = _text(self.pattern, as_bytes)
            made = self._readings[as_bytes, dot] = Automaton(text, self.line, dot, self.budget)
        return made

    def matches(self, path: bytes) -> bool | None:
        """Return True or False, or None if the result depends on behaviour that was not
        measured."""
        counts = (True,) if path.isascii() and self.pattern.isascii() else (True, False)
        dots = (ANY, NO_NEWLINE) if self._dots and b"\n" in path else (ANY,)
        met = {
            self._reading(as_bytes, dot).matches(_text(path, as_bytes))
            for as_bytes in counts
            for dot in dots
        }
        if self.unknown:
            return None if True in met else False
        return met.pop() if len(met) == 1 else None


def _text(data: bytes, as_bytes: bool) -> str:
    """Return a text with one character for each byte, or for each character of UTF-8."""
    return data.decode("latin-1") if as_bytes else data.decode("utf-8", "surrogateescape")
