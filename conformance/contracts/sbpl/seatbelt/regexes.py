"""Match the regular expressions that are known to work in a profile.

An expression is checked first and then run by an automaton whose states are built on demand, so no
expression and no path makes a match slow. No published measurement shows whether Seatbelt counts
bytes or characters, or whether a dot matches a newline. If an answer depends on one of these, it is
None.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from contracts.sbpl.seatbelt.reader import (
    STRING_BYTES,
    Malformed,
    OutsideDialect,
    Refused,
    Undecidable,
)

NESTED = 32
SPECIAL = frozenset(r".[]{}()*+?|^$\\")
REPEATS = ("*", "+", "?")
# `(?i)^` was observed to be refused; the behaviour of groups with other marks is unknown.
_FLAGS = re.compile(r"\?[A-Za-z]*-?[A-Za-z]+[:)]")
# States that may be visited to build the automata of all expressions of a profile together.
BUDGET = 2_000_000
KEPT = 500


class TooDear(Exception):
    """Raised if the budget of a profile is spent."""


@dataclass
class Purse:
    left: int = BUDGET

    def pay(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooDear


@dataclass(frozen=True)
class Class:
    """A set of characters."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool = False

    def takes(self, character: str) -> bool:
        return self.negated is not any(low <= character <= high for low, high in self.ranges)


ANY = Class((), True)
NO_NEWLINE = Class((("\n", "\n"),), True)


class Program:
    """The states of an automaton: for each state its characters, their target, and its empty
    transitions."""

    def __init__(self) -> None:
        self.takes: list[Class | None] = []
        self.leads: list[int] = []
        self.free: list[tuple[int, ...]] = []

    def state(self, takes: Class | None = None, leads: int = -1, free: tuple[int, ...] = ()) -> int:
        self.takes.append(takes)
        self.leads.append(leads)
        self.free.append(free)
        return len(self.takes) - 1


class Parser:
    """Translates an expression into a program. Each part of it gets a first and a last state."""

    def __init__(self, pattern: str, line: int, dot: Class) -> None:
        self.pattern, self.line, self.dot = pattern, line, dot
        self.at = 0
        self.program = Program()
        self.anchors: list[tuple[bool, bool]] = []
        # The first unknown form, or an empty string. The form is taken to match any text. If the
        # expression does not match a path even then, it does not match the path whatever the form
        # means.
        self.unknown = ""

    def refuse(self, words: str, kind: type[Undecidable] = Undecidable) -> Undecidable:
        return kind(self.line, f"{words} in the regular expression {self.pattern[:80]!r}")

    def anchor(self) -> Refused:
        words = f"^ in the middle of the regular expression {self.pattern[:80]!r}"
        source = "a published run: unexpected ^ operator in middle of expression, exit status 65"
        return Refused(self.line, words, source)

    def more(self) -> str:
        return self.pattern[self.at] if self.at < len(self.pattern) else ""

    # Expressions ----------------------------------------------------------------------------

    def whole(self) -> tuple[int, int]:
        """Parse the whole expression; return its first and its last state."""
        if not self.pattern:
            raise self.refuse("nothing")
        first, last = self.program.state(), self.program.state()
        starts = []
        while True:
            began, ended = self.alternative()
            starts.append(began)
            self.join(ended, last)
            if self.more() != "|":
                break
            self.at += 1
        if self.more():
            raise self.refuse("a parenthesis too many", Malformed)
        self.program.free[first] = tuple(starts)
        return first, last

    def alternative(self) -> tuple[int, int]:
        """Parse one outermost alternative.

        Where it has no anchor, any text may precede or follow.
        """
        begins = self.more() == "^"
        self.at += begins
        if begins and self.more() == "$":
            # Two anchors without text between them match only the empty text, which is not a path.
            began = ended = self.program.state()
        else:
            began, ended = self.sequence(0)
        ends = self.more() == "$"
        self.at += ends
        if ends and self.more() not in ("", "|"):
            raise self.refuse("$ in the middle", Malformed)
        self.anchors.append((begins, ends))
        if not begins:
            loop = self.anything()
            self.join(loop, began)
            began = loop
        if not ends:
            loop = self.anything()
            self.join(ended, loop)
            ended = loop
        return began, ended

    def anything(self) -> int:
        loop = self.program.state()
        self.program.free[loop] = (self.program.state(ANY, loop),)
        return loop

    def join(self, one: int, other: int) -> None:
        self.program.free[one] += (other,)

    def sequence(self, depth: int) -> tuple[int, int]:
        began = ended = self.program.state()
        empty = True
        while self.more() not in ("", "|", ")", "$"):
            one, other = self.repeated(depth)
            self.join(ended, one)
            ended, empty = other, False
        if empty:
            raise self.refuse("an empty alternative")
        return began, ended

    def repeated(self, depth: int) -> tuple[int, int]:
        began, ended = self.atom(depth)
        mark = self.more()
        if mark not in REPEATS:
            return began, ended
        self.at += 1
        if self.more() in REPEATS:
            raise self.refuse("two repetitions")
        first, last = self.program.state(free=(began,)), self.program.state()
        self.join(ended, last)
        if mark in "*+":
            self.join(ended, began)
        if mark in "*?":
            self.join(first, last)
        return first, last

    # Atoms ----------------------------------------------------------------------------------

    def atom(self, depth: int) -> tuple[int, int]:
        character = self.more()
        self.at += 1
        if character == "(":
            return self.group(depth + 1)
        if character == ".":
            return self.one(self.dot)
        if character == "[":
            return self.one(self.members())
        if character == "\\":
            escaped = self.more()
            self.at += 1
            # Escapes like `\d`: no evidence shows that they work, and rules do not need them.
            if not escaped or escaped.isalnum() or escaped > "~" or escaped < " ":
                raise self.refuse(f"the escape \\{escaped}", OutsideDialect)
            character = escaped
        elif character in SPECIAL:
            if character == "^":
                raise self.anchor()
            kind = OutsideDialect if character in "{}" else Undecidable
            raise self.refuse(f"{character} by itself", kind)
        return self.one(Class(((character, character),)))

    def one(self, takes: Class) -> tuple[int, int]:
        ended = self.program.state()
        return self.program.state(takes, ended), ended

    def group(self, depth: int) -> tuple[int, int]:
        if self.more() == "?":
            return self.marked()
        if depth > NESTED:
            raise self.refuse(f"more than {NESTED} groups inside each other")
        first, last = self.program.state(), self.program.state()
        while True:
            began, ended = self.sequence(depth)
            self.join(first, began)
            self.join(ended, last)
            if self.more() != "|":
                break
            self.at += 1
        if self.more() == "$":
            raise self.refuse("$ in the middle", Malformed)
        if self.more() != ")":
            raise self.refuse("an open parenthesis", Malformed)
        self.at += 1
        return first, last

    def marked(self) -> tuple[int, int]:
        """Parse a group that begins with `(?`. Its content is parsed only to find its end."""
        flags = _FLAGS.match(self.pattern, self.at)
        if flags is not None:
            if self.pattern.startswith("^", flags.end()):
                raise self.anchor()
            raise self.refuse(f"the flags `({flags[0]}`", OutsideDialect)
        began, nested = self.at - 1, 1
        while nested:
            character = self.more()
            if not character:
                raise self.refuse("an open parenthesis", Malformed)
            self.at += 2 if character == "\\" else 1
            if character == "[":
                self.members()
            nested += {"(": 1, ")": -1}.get(character, 0)
        self.unknown = self.pattern[began : self.at]
        loop, ended = self.anything(), self.program.state()
        self.join(loop, ended)
        return loop, ended

    def members(self) -> Class:
        """Parse single characters and ranges after `[`. Forms on which dialects disagree raise an
        exception."""
        negated = self.more() == "^"
        self.at += negated
        ranges = []
        while (low := self.member()) != "]":
            high = low
            if self.more() == "-":
                self.at += 1
                high = self.member()
                if high == "]":
                    raise self.refuse("- in a class")
            if high < low:
                raise self.refuse("a range upside down", Malformed)
            ranges.append((low, high))
        if not ranges:
            raise self.refuse("an empty class")
        return Class(tuple(ranges), negated)

    def member(self) -> str:
        character = self.more()
        self.at += 1
        if not character:
            raise self.refuse("a class that does not end", Malformed)
        if character in "\\[-":
            kind = OutsideDialect if character in "\\[" else Undecidable
            raise self.refuse(f"{character} in a class", kind)
        return character


# Matching -----------------------------------------------------------------------------------


class State(dict[str, "State"]):
    """A set of states of the program. As a dict it maps a character to the next set."""

    def __init__(self, members: frozenset[int], accepts: bool) -> None:
        super().__init__()
        self.members, self.accepts = members, accepts


class Automaton:
    """The automaton for one reading of an expression."""

    def __init__(self, pattern: str, line: int, dot: Class, purse: Purse) -> None:
        parser = Parser(pattern, line, dot)
        first, self.last = parser.whole()
        self.anchored = all(begins and ends for begins, ends in parser.anchors)
        self.unknown = parser.unknown
        self.program, self.purse = parser.program, purse
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
        self.purse.pay(len(state.members) + 1)
        met = []
        for member in state.members:
            what = takes[member]
            if what is not None and what.takes(character):
                met.append(leads[member])
        return self.state(met)

    def state(self, members: list[int]) -> State:
        """Return the state with these members and all that empty transitions reach."""
        seen = set(members)
        waiting = list(seen)
        while waiting:
            for free in self.program.free[waiting.pop()]:
                if free not in seen:
                    seen.add(free)
                    waiting.append(free)
        self.purse.pay(len(seen) + 1)
        key = frozenset(seen)
        found = self.states.get(key)
        if found is None:
            if len(self.states) >= KEPT:
                self.states.clear()
            found = self.states[key] = State(key, self.last in seen)
        return found


@dataclass(eq=False)
class Regex:
    """An expression with all its readings."""

    pattern: bytes
    line: int
    purse: Purse
    _readings: dict[tuple[bool, Class], Automaton] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if len(self.pattern) > STRING_BYTES:
            raise Undecidable(self.line, f"a regular expression of more than {STRING_BYTES} bytes")
        # The anchors and unknown forms are the same in all readings.
        self.anchored = self._reading(True, ANY).anchored
        # The first unknown form in the expression, or an empty string.
        self.unknown = self._reading(True, ANY).unknown
        self._dots = b"." in self.pattern

    def _reading(self, as_bytes: bool, dot: Class) -> Automaton:
        made = self._readings.get((as_bytes, dot))
        if made is None:
            text = _text(self.pattern, as_bytes)
            made = self._readings[as_bytes, dot] = Automaton(text, self.line, dot, self.purse)
        return made

    def matches(self, path: bytes) -> bool | None:
        """Return whether the expression matches; None if that depends on unmeasured behaviour."""
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
