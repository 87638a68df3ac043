"""Evaluate the Scheme of a profile, with a bound on steps and on nested calls.

A value that is not known here is carried along, and only the clause that uses it is unknown. Both
branches of an unknown condition are evaluated; their clauses hold only if the condition does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from contracts.sbpl.seatbelt import functions
from contracts.sbpl.seatbelt.filters import Gap
from contracts.sbpl.seatbelt.operations import canonical, known
from contracts.sbpl.seatbelt.reader import Constant, List, Node, Puzzle, String, Symbol
from contracts.sbpl.seatbelt.values import (
    NOTHING,
    Builtin,
    Function,
    NotSet,
    Operation,
    Quoted,
    Scope,
    Unknown,
    is_false,
)
from contracts.sbpl.seatbelt.vocabulary import Word, is_word, words

# Nested calls; a call in the last place of a function costs none.
DEEP = 100
# Steps of one form of the top level, and of the whole profile. A form that needs more steps is
# unknown, and so are the forms after several such forms.
STEPS_OF_A_FORM, STEPS = 60_000, 400_000


class TooMuch(Exception):
    """A form costs too many steps, or its calls are nested too deeply."""

    def __init__(self, line: int, words: str) -> None:
        super().__init__(words)
        self.line, self.words = line, words


class Tail:
    """The form whose value is the value of the current one."""

    __slots__ = ("node", "scope")

    def __init__(self, node: Node, scope: Scope) -> None:
        self.node, self.scope = node, scope


class Evaluator:
    """Evaluates forms; the loader adds the functions of the language."""

    def __init__(self) -> None:
        self.globals = Scope({})
        self.builtins: dict[str, Builtin] = {
            name: Builtin(name, _plain(call)) for name, call in functions.FUNCTIONS.items()
        }
        self.builtins["map"] = Builtin("map", self._map)
        self.builtins["for-each"] = Builtin("for-each", self._for_each)
        self.builtins["apply"] = Builtin("apply", self._apply)
        self.builtins["filter"] = Builtin("filter", self._filter)
        self.special: dict[str, Callable[[List, Scope], object]] = {}
        self.nested = 0
        self.left = STEPS
        self.left_of_form = STEPS_OF_A_FORM
        # The unknown conditions that decide whether the current form is evaluated at all.
        self.conditions: list[Gap] = []

    def pay(self, steps: int, line: int) -> None:
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
                if isinstance(node, Symbol):
                    return self.named(node, scope)
                if isinstance(node, Puzzle):
                    return Unknown(Gap(node.words), node.line)
                self.pay(1, node.line)
                if not node.items:
                    return ()
                head = node.head
                if head in _SPECIAL and scope.find(head) is None:
                    done = _SPECIAL[head](self, node, scope)
                elif head in self.special and scope.find(head) is None:
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
        """Call a function and return its value, or a Tail that still has to be evaluated."""
        self.pay(functions.cost(given), form.line)
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
        return Unknown(Gap(f"the form {str(form)[:80]}"), form.line)

    def not_set(self, unset: NotSet) -> object:
        """Return the value of a form that needs the string of a parameter without a value."""
        return Unknown(Gap(f"the parameter {unset.name}, which is not set"), unset.line)

    def finished(self, function: object, given: Sequence[object], form: List) -> object:
        """Call a function and evaluate the rest of it."""
        done = self.call(function, given, form)
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
        """Evaluate forms in order; the last one is the Tail."""
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
        """Note a form that is there for its effect, and whose effect is not known."""

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

        Within a condition that is unknown, the value is unknown afterwards.
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
        """Evaluate every branch of an unknown condition."""
        met = []
        with self.under(unknown.gap):
            for way in ways:
                done = way()
                met.append(self.value(done.node, done.scope) if isinstance(done, Tail) else done)
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
            return _strange(form)
        met: list[object] = []
        for row in zip(*map(functions.items, given[1:]), strict=False):
            met.append(self.finished(given[0], row, form))
            if for_effect and isinstance(met[-1], Unknown):
                self.opaque(form, met[-1])
        return NOTHING if for_effect else tuple(met)

    def _filter(self, given: Sequence[object], form: List) -> object:
        among = given[1] if len(given) == 2 else None
        if not isinstance(among, tuple):
            return _strange(form)
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
            return _strange(form)
        function = given[0]
        name = function.name if isinstance(function, Builtin) else "apply"
        called = List((Symbol(name, form.line),), form.line)
        return self.call(function, (*given[1:-1], *last), called)


_OF_STRINGS = frozenset(
    words(
        """string-append string-length substring string->number string=? regex-quote string<?
    string>? string<=? string>=? string->symbol"""
    )
)


def _plain(
    call: Callable[[Sequence[object]], object],
) -> Callable[[Sequence[object], List], object]:
    def guarded(given: Sequence[object], form: List) -> object:
        try:
            return call(given)
        except functions.UNFIT:
            return Unknown(Gap(f"the value {str(form)[:80]}"), form.line)

    return guarded


# The first parts of the names of operations and filters.
_FAMILIES = frozenset(
    words(
        """file fs network process ipc mach socket syscall sysctl iokit system nvram user managed
    appleevent authorization device generic load sandbox signal vnode global local xpc
    preference require entitlement extension mount home path"""
    )
)

# Special forms ------------------------------------------------------------------------------

Special = Callable[[Evaluator, List, Scope], object]


def _strange(form: List) -> Unknown:
    return Unknown(Gap(f"the form {str(form)[:80]}"), form.line)


def _quote(evaluator: Evaluator, form: List, scope: Scope) -> object:
    return _datum(form.items[1]) if len(form.items) == 2 else _strange(form)


def _datum(node: Node) -> object:
    if isinstance(node, String | Constant):
        return node.value
    if isinstance(node, Symbol):
        return Quoted(node.name)
    if isinstance(node, Puzzle):
        return Unknown(Gap(node.words), node.line)
    return tuple(_datum(each) for each in node.items)


def _quasiquote(evaluator: Evaluator, form: List, scope: Scope) -> object:
    return _filled(evaluator, form.items[1], scope) if len(form.items) == 2 else _strange(form)


def _filled(evaluator: Evaluator, node: Node, scope: Scope) -> object:
    if not isinstance(node, List):
        return _datum(node)
    if node.head == "unquote" and len(node.items) == 2:
        return evaluator.value(node.items[1], scope)
    made: list[object] = []
    for each in node.items:
        if isinstance(each, List) and each.head == "unquote-splicing" and len(each.items) == 2:
            spliced = evaluator.value(each.items[1], scope)
            if not isinstance(spliced, tuple):
                return _strange(node)
            made += spliced
        else:
            made.append(_filled(evaluator, each, scope))
    return tuple(made)


def _define(evaluator: Evaluator, form: List, scope: Scope) -> object:
    target = form.items[1] if len(form.items) > 1 else None
    if isinstance(target, List) and target.head:
        function = _function(target.head, target.items[1:], form.items[2:], scope)
        value: object = function if function is not None else _strange(form)
        name = target.head
    elif isinstance(target, Symbol) and len(form.items) <= 3:
        name = target.name
        value = evaluator.value(form.items[2], scope) if len(form.items) == 3 else NOTHING
        if isinstance(value, Function) and value.name == "lambda":
            value.name = name
    else:
        return _strange(form)
    if form.head != "define-once" or scope.find(name) is None:
        evaluator.bind(name, value, scope, form.line)
    return NOTHING


def _function(
    name: str, parameters: Sequence[Node], body: Sequence[Node], scope: Scope
) -> Function | None:
    names = [each.name for each in parameters if isinstance(each, Symbol)]
    if len(names) < len(parameters):
        return None
    rest = ""
    if len(names) >= 2 and names[-2] == ".":
        rest = names[-1]
        names = names[:-2]
    return None if "." in names else Function(name, tuple(names), rest, tuple(body), scope)


def _lambda(evaluator: Evaluator, form: List, scope: Scope) -> object:
    if len(form.items) < 2:
        return _strange(form)
    parameters, body = form.items[1], form.items[2:]
    if isinstance(parameters, Symbol):
        return Function("lambda", (), parameters.name, tuple(body), scope)
    if not isinstance(parameters, List):
        return _strange(form)
    return _function("lambda", parameters.items, body, scope) or _strange(form)


def _set(evaluator: Evaluator, form: List, scope: Scope) -> object:
    target = form.items[1] if len(form.items) == 3 else None
    if not isinstance(target, Symbol):
        return _strange(form)
    value = evaluator.value(form.items[2], scope)
    owner = scope.find(target.name) or evaluator.globals
    evaluator.bind(target.name, value, owner, form.line)
    return NOTHING


def _if(evaluator: Evaluator, form: List, scope: Scope) -> object:
    if len(form.items) not in (3, 4):
        return _strange(form)
    met = evaluator.value(form.items[1], scope)
    ways = form.items[2:]
    if isinstance(met, Unknown):
        other = (lambda: Tail(ways[1], scope)) if len(ways) == 2 else (lambda: NOTHING)
        return evaluator.either(met, [lambda: Tail(ways[0], scope), other])
    if not is_false(met):
        return Tail(ways[0], scope)
    return Tail(ways[1], scope) if len(ways) == 2 else NOTHING


def _when(evaluator: Evaluator, form: List, scope: Scope) -> object:
    if len(form.items) < 2:
        return _strange(form)
    met = evaluator.value(form.items[1], scope)
    rest = form.items[2:]
    if isinstance(met, Unknown):
        return evaluator.either(met, [lambda: evaluator.body(rest, scope), lambda: NOTHING])
    wanted = is_false(met) is (form.head == "unless")
    return evaluator.body(rest, scope) if wanted else NOTHING


def _cond(evaluator: Evaluator, form: List, scope: Scope) -> object:
    return _ways(evaluator, form, form.items[1:], scope)


def _ways(evaluator: Evaluator, form: List, ways: Sequence[Node], scope: Scope) -> object:
    for at, way in enumerate(ways):
        if not isinstance(way, List) or not way.items:
            return _strange(form)
        test, *rest = way.items
        last = isinstance(test, Symbol) and test.name == "else"
        met: object = True if last else evaluator.value(test, scope)
        arrow = len(rest) == 2 and isinstance(rest[0], Symbol) and rest[0].name == "=>"
        if isinstance(met, Unknown):
            others = ways[at + 1 :]
            return evaluator.either(
                met,
                [
                    partial(evaluator.body, rest, scope),
                    partial(_ways, evaluator, form, others, scope),
                ],
            )
        if is_false(met):
            continue
        if arrow:
            return evaluator.finished(evaluator.value(rest[1], scope), (met,), form)
        return evaluator.body(rest, scope) if rest else met
    return NOTHING


def _case(evaluator: Evaluator, form: List, scope: Scope) -> object:
    if len(form.items) < 2:
        return _strange(form)
    key = evaluator.value(form.items[1], scope)
    bodies = []
    for way in form.items[2:]:
        if not isinstance(way, List) or not way.items:
            return _strange(form)
        test, body = way.items[0], way.items[1:]
        bodies.append(body)
        if isinstance(key, Unknown):
            continue
        among = _datum(test)
        is_else = isinstance(test, Symbol) and test.name == "else"
        try:
            fits = isinstance(among, tuple) and any(functions.same((key, each)) for each in among)
        except functions.Unfit:
            return _strange(form)
        if is_else or fits:
            return evaluator.body(body, scope)
    if isinstance(key, Unknown):
        ways: list[Callable[[], object]] = [partial(evaluator.body, body, scope) for body in bodies]
        return evaluator.either(key, [*ways, lambda: NOTHING])
    return NOTHING


def _and(evaluator: Evaluator, form: List, scope: Scope) -> object:
    stops = form.head == "or"
    given = form.items[1:]
    if not given:
        return not stops
    for at, each in enumerate(given[:-1]):
        met = evaluator.value(each, scope)
        if isinstance(met, Unknown):
            rest = List((form.items[0], *given[at + 1 :]), form.line)
            evaluator.either(met, [partial(Tail, rest, scope)])
            return met
        if is_false(met) is not stops:
            return met
    return Tail(given[-1], scope)


def _let(evaluator: Evaluator, form: List, scope: Scope) -> object:
    items = form.items[1:]
    name = ""
    if form.head == "let" and items and isinstance(items[0], Symbol):
        name, items = items[0].name, items[1:]
    if not items or not isinstance(items[0], List):
        return _strange(form)
    pairs = items[0].items
    inner = Scope({}, scope, len(evaluator.conditions))
    values: dict[str, object] = {}
    for pair in pairs:
        if not isinstance(pair, List) or len(pair.items) != 2 or not pair.head:
            return _strange(form)
        values[pair.head] = evaluator.value(pair.items[1], scope if form.head == "let" else inner)
        if form.head != "let":
            inner.names.update(values)
    inner.names.update(values)
    if name:
        around = Scope({}, scope, len(evaluator.conditions))
        function = Function(name, tuple(values), "", tuple(items[1:]), around)
        around.names[name] = function
        return evaluator.call(function, list(values.values()), form)
    return evaluator.body(items[1:], inner)


def _begin(evaluator: Evaluator, form: List, scope: Scope) -> object:
    return evaluator.body(form.items[1:], scope)


def _is_defined(evaluator: Evaluator, form: List, scope: Scope) -> object:
    node = form.items[1] if len(form.items) == 2 else None
    if isinstance(node, List) and node.head == "quote" and len(node.items) == 2:
        node = node.items[1]
    if isinstance(node, Symbol):
        name = node.name
        if evaluator.bound(name, scope) is not None or name in _SPECIAL:
            return True
        # Another operation or filter may exist on a Mac.
        if name.split("-")[0].strip("*") in _FAMILIES:
            return Unknown(Gap(f"whether {name} is defined"), form.line)
        return False
    return _strange(form)


def _nothing(evaluator: Evaluator, form: List, scope: Scope) -> object:
    return NOTHING


def _macro(evaluator: Evaluator, form: List, scope: Scope) -> object:
    target = form.items[1] if len(form.items) > 1 else None
    name = target.head if isinstance(target, List) else str(target)
    evaluator.bind(name, Unknown(Gap(f"the macro {name}"), form.line), scope, form.line)
    return NOTHING


_SPECIAL: dict[str, Special] = {
    "quote": _quote,
    "quasiquote": _quasiquote,
    "define": _define,
    "define-once": _define,
    "lambda": _lambda,
    "set!": _set,
    "if": _if,
    "when": _when,
    "unless": _when,
    "cond": _cond,
    "case": _case,
    "and": _and,
    "or": _and,
    "let": _let,
    "let*": _let,
    "letrec": _let,
    "letrec*": _let,
    "begin": _begin,
    "defined?": _is_defined,
    "debug": _nothing,
    "macro": _macro,
    "define-macro": _macro,
    "define-syntax": _macro,
}
