"""Parse a regular expression of the dialect that is known to work in a profile."""

from __future__ import annotations

import re
from dataclasses import dataclass

from contracts.sbpl.seatbelt.reader import Malformed, OutsideDialect, Refused, Undecidable

NESTED = 32
SPECIAL = frozenset(r".[]{}()*+?|^$\\")
REPEATS = ("*", "+", "?")
# A sequence ends before one of these. The empty text stands for the end of the expression.
ENDS = ("", "|", ")", "$")
# An escape, a class, or a character.
_TOKEN = re.compile(r"\\.|\[[^\]]*\]|.", re.S)
# sandbox-exec was observed to refuse `(?i)^`. The behaviour of groups with other marks is unknown.
_FLAGS = re.compile(r"\?[A-Za-z]*-?[A-Za-z]+[:)]")


def _alternatives(pattern: str) -> bool:
    """True if an expression may have alternatives outside of its groups."""
    nested = 0
    for each in _TOKEN.findall(pattern):
        nested += {"(": 1, ")": -1}.get(each, 0)
        if each == "|" and nested <= 0:
            return True
    return False


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
    """The states of an automaton. Each state has its characters, their target, and its empty
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
    """Translates an expression into a program. Each part of the expression gets a first and a last
    state."""

    def __init__(self, pattern: str, line: int, dot: Class) -> None:
        self.pattern, self.line, self.dot = pattern, line, dot
        self.at = 0
        self.program = Program()
        self.anchors: list[tuple[bool, bool]] = []
        # The first unknown form, or an empty string. An unknown form is treated as if it matched
        # any text. If the expression does not match a path even then, it does not match the path
        # with any meaning of the form.
        self.unknown = ""
        # True if the unknown form is outside of the dialect.
        self.outside = False
        # The number of `$` inside groups, and the state after them, from which no text can follow.
        self.dollars = 0
        self.sink = self.program.state()

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

        At an end without an anchor, any text may precede or follow.
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
        while self.more() not in ENDS:
            at, dollars = self.at, self.dollars
            try:
                one, other = self.repeated(depth)
            except Undecidable as why:
                if depth or isinstance(why, Malformed) or _alternatives(self.pattern[at:]):
                    raise
                one = other = self.rest(why)
            self.join(ended, one)
            ended, empty = other, False
            if self.dollars > dollars and self.more() not in ENDS:
                raise self.refuse("$ in the middle", Malformed)
        if empty:
            raise self.refuse("an empty alternative")
        return began, ended

    def rest(self, why: Undecidable) -> int:
        """Treat the rest of the expression, which is unknown, as matching any text."""
        self.unknown, self.outside = why.words, isinstance(why, OutsideDialect)
        self.at = len(self.pattern.removesuffix("$"))
        return self.anything()

    def repeated(self, depth: int) -> tuple[int, int]:
        began, ended = self.atom(depth)
        mark = self.more()
        if mark == "{":
            raise self.refuse("{ by itself", OutsideDialect)
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
            # Escapes such as `\d` are refused: no evidence shows that they work, and rules do not
            # need them.
            if not escaped or escaped.isalnum() or escaped > "~" or escaped < " ":
                raise self.refuse(f"the escape \\{escaped}", OutsideDialect)
            character = escaped
        elif character in SPECIAL:
            if character == "^" and self.pattern[: self.at - 1].strip("("):
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
            if self.more() == "$":
                began = ended = self.program.state()
            else:
                began, ended = self.sequence(depth)
            self.join(first, began)
            if self.more() == "$":
                self.at += 1
                self.dollars += 1
                self.join(ended, self.sink)
                if self.more() not in ENDS[:3]:
                    raise self.refuse("$ in the middle", Malformed)
            else:
                self.join(ended, last)
            if self.more() != "|":
                break
            self.at += 1
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
        """Parse single characters and ranges after `[`.

        Raise an exception for forms on which dialects disagree.
        """
        negated = self.more() == "^"
        self.at += negated
        ranges = []
        if self.more() == "-":
            # At the beginning or the end of a class, a dash means itself in every dialect.
            self.at += 1
            ranges.append(("-", "-"))
        while (low := self.member()) != "]":
            high = low
            if self.more() == "-" and not self.pattern.startswith("-]", self.at):
                self.at += 1
                high = self.member()
            elif self.more() == "-":
                self.at += 1
                ranges.append(("-", "-"))
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
