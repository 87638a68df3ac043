"""Evaluate the Scheme of a profile, with limits on steps and nested calls.

An unknown value is passed on, so that only clauses which use it become unknown. If a condition is
unknown, both branches are evaluated, and their clauses depend on the condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from contracts.sbpl.seatbelt import characters, functions
from contracts.sbpl.seatbelt.filters import Gap
from contracts.sbpl.seatbelt.operations import canonical, known
from contracts.sbpl.seatbelt.reader import (
    Character,
    Constant,
    List,
    Node,
    String,
    Symbol,
    UnknownToken,
)
from contracts.sbpl.seatbelt.values import (
    NOTHING,
    Builtin,
    Function,
    Letter,
    NotSet,
    Operation,
    Scope,
    Unknown,
    is_false,
    strange,
)
from contracts.sbpl.seatbelt.vocabulary import Word, is_word, words

# The limit for nested calls. Tail calls are not counted.
DEEP = 200
# The limits of steps for one form of the top level, and for the whole profile. A form that needs
# more steps is unknown. After several such forms, all further forms are unknown.
STEPS_OF_A_FORM, STEPS = 200_000, 800_000
# Functions that need a string. A parameter without a value is not a string.
_OF_STRINGS = frozenset(
    words(
        """string-append string-length substring string->number string=? regex-quote string<?
    string>? string<=? string>=? string->symbol string-ref string->list string-upcase
    string-downcase"""
    )
)


class TooMuch(Exception):
    """Raised if a form needs too many steps, or nests its calls too deeply."""

    def __init__(self, line: int, words: str) -> None:
        super().__init__(words)
        self.line, self.words = line, words


class Tail:
    """A form that is evaluated next, in place of the current one (a tail call)."""

    __slots__ = ("node", "scope")

    def __init__(self, node: Node, scope: Scope) -> None:
        self.node, self.scope = node, scope


class Evaluator:
    """Evaluates forms; the loader adds special forms and the functions of the language."""

    def __init__(self) -> None:
        self.globals = Scope({})
        self.builtins = dict(_PLAIN)
        self.builtins["map"] = Builtin("map", self._map)
        self.builtins["for-each"] = Builtin("for-each", self._for_each)
        self.builtins["apply"] = Builtin("apply", self._apply)
        self.builtins["filter"] = Builtin("filter", self._filter)
        self.special: dict[str, Callable[[List, Scope], object]] = {}
        self.nested = 0
        self.left = STEPS
        self.left_of_form = STEPS_OF_A_FORM
        # The unknown conditions on which it depends whether the current form is evaluated.
        self.conditions: list[Gap] = []

    def spend(self, steps: int, line: int) -> None:
        self.left_of_form -= steps
        if self.left_of_form < 0:
            raise TooMuch(line, "a form that takes too many steps")

    # Forms ----------------------------------------------------------------------------------

    def value(self, node: Node, scope: Scope) -> object:
        self.nested += 1
        try:
            if self.nested > DEEP:
                raise TooMuch(node.line, f"more than {DEEP} calls inside each other")
            while True:
                if isinstance(node, String | Constant):
                    return node.value
                if isinstance(node, Character):
                    return Letter(node.code)
                if isinstance(node, Symbol):
                    return self.named(node, scope)
                if isinstance(node, UnknownToken):
                    return Unknown(Gap(node.words), node.line)
                self.spend(1, node.line)
                if not node.items:
                    return ()
                head = node.head
                if head in self.special and scope.find(head) is None:
                    done = self.special[head](node, scope)
                else:
                    done = self._call(node, scope)
                if not isinstance(done, Tail):
                    return done
                node, scope = done.node, done.scope
        finally:
            self.nested -= 1

    def _call(self, node: List, scope: Scope) -> object:
        head = node.items[0]
        function = self.named(head, scope) if isinstance(head, Symbol) else self.value(head, scope)
        words = isinstance(function, Builtin) and function.words
        given = []
        for each in node.items[1:]:
            if words and isinstance(each, Symbol):
                given.append(self.word(each, scope))
            else:
                given.append(self.value(each, scope))
        return self.call(function, given, node)

    def call(self, function: object, given: Sequence[object], form: List) -> object:
        """Call a function. Return its value, or a Tail that must still be evaluated."""
        self.spend(functions.cost(given), form.line)
        if isinstance(function, Function):
            return self._enter(function, given, form)
        if isinstance(function, Builtin):
            if function.strict and not function.words:
                unknown = next((each for each in given if isinstance(each, Unknown)), None)
                if unknown is not None:
                    return unknown
                unset = next((each for each in given if isinstance(each, NotSet)), None)
                if unset is not None and function.name in _OF_STRINGS:
                    return self.not_set(unset)
            return function.call(given, form)
        if isinstance(function, Unknown):
            return function
        return strange(form)

    def not_set(self, unset: NotSet) -> object:
        """Return the value of a form that needs a string, and gets a parameter without a value."""
        return Unknown(Gap(f"the parameter {unset.name}, which is not set"), unset.line)

    def finished(self, function: object, given: Sequence[object], form: List) -> object:
        """Call a function, and evaluate until its value is complete."""
        return self._rest(self.call(function, given, form))

    def _rest(self, done: object) -> object:
        """Evaluate a Tail. Return any other value unchanged."""
        return self.value(done.node, done.scope) if isinstance(done, Tail) else done

    def _enter(self, function: Function, given: Sequence[object], form: List) -> object:
        count = len(function.parameters)
        if len(given) < count or (len(given) > count and not function.rest):
            gap = Gap(f"{function.name} of {len(given)} arguments")
            return Unknown(gap, form.line)
        names: dict[str, object] = dict(zip(function.parameters, given[:count], strict=True))
        if function.rest:
            names[function.rest] = tuple(given[count:])
        return self.body(function.body, Scope(names, function.scope, len(self.conditions)))

    def body(self, nodes: Sequence[Node], scope: Scope) -> object:
        """Evaluate forms in order. The last form is returned as a Tail."""
        if not nodes:
            return NOTHING
        for node in nodes[:-1]:
            self.statement(node, scope)
        return Tail(nodes[-1], scope)

    def statement(self, node: Node, scope: Scope) -> None:
        value = self.value(node, scope)
        if isinstance(value, Unknown):
            self.opaque(node, value)

    def opaque(self, node: Node, value: Unknown) -> None:
        """Record a form of unknown effect."""

    # Names ----------------------------------------------------------------------------------

    def named(self, symbol: Symbol, scope: Scope) -> object:
        found = self.bound(symbol.name, scope)
        return Unknown(Gap(f"the name {symbol}"), symbol.line) if found is None else found

    def word(self, symbol: Symbol, scope: Scope) -> object:
        """Return the value of a name. A name without a value stands for itself, as a word."""
        found = self.bound(symbol.name, scope)
        return Word(symbol.name) if found is None else found

    def bound(self, name: str, scope: Scope) -> object | None:
        owner = scope.find(name)
        if owner is not None:
            return owner.names[name]
        if name in self.builtins:
            return self.builtins[name]
        if known(name):
            return Operation(canonical(name))
        return Word(name) if is_word(name) else None

    def bind(self, name: str, value: object, scope: Scope, line: int) -> None:
        """Give a name a value.

        If this depends on an unknown condition, the value is unknown afterwards.
        """
        if scope.branches < len(self.conditions):
            gap = Gap(f"the value of {name}, which depends on {self.conditions[-1].words}")
            value = Unknown(gap, line)
        scope.names[name] = value

    @contextmanager
    def under(self, gap: Gap) -> Iterator[None]:
        self.conditions.append(gap)
        try:
            yield
        finally:
            self.conditions.pop()

    def either(self, unknown: Unknown, ways: Sequence[Callable[[], object]]) -> object:
        """Evaluate every branch, because the condition is unknown."""
        with self.under(unknown.gap):
            met = [self._rest(way()) for way in ways]
        plain = [each for each in met if isinstance(each, bytes | int | float | str)]
        if all(each is NOTHING for each in met):
            return NOTHING
        if len(plain) == len(met) and all(each == met[0] for each in met):
            return met[0]
        return unknown

    # Functions on functions ------------------------------------------------------------------

    def _map(self, given: Sequence[object], form: List) -> object:
        return self._each(given, form, for_effect=False)

    def _for_each(self, given: Sequence[object], form: List) -> object:
        return self._each(given, form, for_effect=True)

    def _each(self, given: Sequence[object], form: List, *, for_effect: bool) -> object:
        if len(given) < 2 or not all(isinstance(each, tuple) for each in given[1:]):
            return strange(form)
        met: list[object] = []
        for row in zip(*map(functions.items, given[1:]), strict=False):
            met.append(self.finished(given[0], row, form))
            if for_effect and isinstance(met[-1], Unknown):
                self.opaque(form, met[-1])
        return NOTHING if for_effect else tuple(met)

    def _filter(self, given: Sequence[object], form: List) -> object:
        among = given[1] if len(given) == 2 else None
        if not isinstance(among, tuple):
            return strange(form)
        kept = []
        for each in among:
            keep = self.finished(given[0], (each,), form)
            if isinstance(keep, Unknown):
                return keep
            if not is_false(keep):
                kept.append(each)
        return tuple(kept)

    def _apply(self, given: Sequence[object], form: List) -> object:
        last = given[-1] if len(given) > 1 else None
        if not isinstance(last, tuple):
            return strange(form)
        function = given[0]
        name = function.name if isinstance(function, Builtin) else "apply"
        called = List((Symbol(name, form.line),), form.line)
        return self.call(function, (*given[1:-1], *last), called)


def _plain(
    call: Callable[[Sequence[object]], object],
) -> Callable[[Sequence[object], List], object]:
    def guarded(given: Sequence[object], form: List) -> object:
        try:
            return call(given)
        except functions.UNFIT:
            return Unknown(Gap(f"the value {str(form)[:80]}"), form.line)

    return guarded


_PLAIN: dict[str, Builtin] = {
    name: Builtin(name, _plain(call))
    for name, call in (functions.FUNCTIONS | characters.FUNCTIONS).items()
}
