"""The special forms of Scheme, which evaluate only some of their arguments, or evaluate them
later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from contracts.sbpl.seatbelt import functions
from contracts.sbpl.seatbelt.filters import Gap
from contracts.sbpl.seatbelt.reader import (
    Character,
    Constant,
    List,
    Node,
    String,
    Symbol,
    UnknownToken,
)
from contracts.sbpl.seatbelt.scheme import Evaluator, Tail
from contracts.sbpl.seatbelt.values import (
    NOTHING,
    Function,
    Letter,
    Quoted,
    Scope,
    Unknown,
    is_false,
    strange,
)
from contracts.sbpl.seatbelt.vocabulary import words

# The names of operations and filters begin with one of these words.
_FAMILIES = frozenset(
    words(
        """file fs network process ipc mach socket syscall sysctl iokit system nvram user managed
    appleevent authorization device generic load sandbox signal vnode global local xpc
    preference require entitlement extension mount home path"""
    )
)

Special = Callable[[Evaluator, List, Scope], object]


def _quote(evaluator: Evaluator, form: List, scope: Scope) -> object:
    return _datum(form.items[1]) if len(form.items) == 2 else strange(form)


def _datum(node: Node) -> object:
    if isinstance(node, String | Constant):
        return node.value
    if isinstance(node, Character):
        return Letter(node.code)
    if isinstance(node, Symbol):
        return Quoted(node.name)
    if isinstance(node, UnknownToken):
        return Unknown(Gap(node.words), node.line)
    return tuple(_datum(each) for each in node.items)


def _quasiquote(evaluator: Evaluator, form: List, scope: Scope) -> object:
    return _filled(evaluator, form.items[1], scope) if len(form.items) == 2 else strange(form)


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
                return strange(node)
            made += spliced
        else:
            made.append(_filled(evaluator, each, scope))
    return tuple(made)


def _define(evaluator: Evaluator, form: List, scope: Scope) -> object:
    target = form.items[1] if len(form.items) > 1 else None
    if isinstance(target, List) and target.head:
        function = _function(target.head, target.items[1:], form.items[2:], scope)
        value: object = function if function is not None else strange(form)
        name = target.head
    elif isinstance(target, Symbol) and len(form.items) <= 3:
        name = target.name
        value = evaluator.value(form.items[2], scope) if len(form.items) == 3 else NOTHING
        if isinstance(value, Function) and value.name == "lambda":
            value.name = name
    else:
        return strange(form)
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
        return strange(form)
    parameters, body = form.items[1], form.items[2:]
    if isinstance(parameters, Symbol):
        return Function("lambda", (), parameters.name, tuple(body), scope)
    if not isinstance(parameters, List):
        return strange(form)
    return _function("lambda", parameters.items, body, scope) or strange(form)


def _set(evaluator: Evaluator, form: List, scope: Scope) -> object:
    target = form.items[1] if len(form.items) == 3 else None
    if not isinstance(target, Symbol):
        return strange(form)
    value = evaluator.value(form.items[2], scope)
    owner = scope.find(target.name) or evaluator.globals
    evaluator.bind(target.name, value, owner, form.line)
    return NOTHING


def _if(evaluator: Evaluator, form: List, scope: Scope) -> object:
    if len(form.items) not in (3, 4):
        return strange(form)
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
        return strange(form)
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
            return strange(form)
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
        return strange(form)
    key = evaluator.value(form.items[1], scope)
    bodies = []
    for way in form.items[2:]:
        if not isinstance(way, List) or not way.items:
            return strange(form)
        test, body = way.items[0], way.items[1:]
        bodies.append(body)
        if isinstance(key, Unknown):
            continue
        among = _datum(test)
        is_else = isinstance(test, Symbol) and test.name == "else"
        try:
            fits = isinstance(among, tuple) and any(functions.same((key, each)) for each in among)
        except functions.Unfit:
            return strange(form)
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
        return strange(form)
    pairs = items[0].items
    inner = Scope({}, scope, len(evaluator.conditions))
    values: dict[str, object] = {}
    for pair in pairs:
        if not isinstance(pair, List) or len(pair.items) != 2 or not pair.head:
            return strange(form)
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


def _do(evaluator: Evaluator, form: List, scope: Scope) -> object:
    """Evaluate `(do ((NAME FIRST NEXT) …) (TEST VALUE …) BODY …)`."""
    if len(form.items) < 3 or not all(isinstance(each, List) for each in form.items[1:3]):
        return strange(form)
    triples, ends = form.items[1], form.items[2]
    assert isinstance(triples, List)
    assert isinstance(ends, List)
    names: dict[str, tuple[Node, Node | None]] = {}
    for each in triples.items:
        if not isinstance(each, List) or len(each.items) not in (2, 3) or not each.head:
            return strange(form)
        names[each.head] = each.items[1], each.items[2] if len(each.items) == 3 else None
    if not ends.items:
        return strange(form)
    values = {name: evaluator.value(first, scope) for name, (first, _) in names.items()}
    while True:
        evaluator.spend(1, form.line)
        inner = Scope(dict(values), scope, len(evaluator.conditions))
        met = evaluator.value(ends.items[0], inner)
        if isinstance(met, Unknown):
            return met
        if not is_false(met):
            return evaluator.body(ends.items[1:], inner)
        for each in form.items[3:]:
            evaluator.statement(each, inner)
        values = {
            name: inner.names[name] if following is None else evaluator.value(following, inner)
            for name, (_, following) in names.items()
        }


def _begin(evaluator: Evaluator, form: List, scope: Scope) -> object:
    return evaluator.body(form.items[1:], scope)


def _is_defined(evaluator: Evaluator, form: List, scope: Scope) -> object:
    node = form.items[1] if len(form.items) == 2 else None
    if isinstance(node, List) and node.head in ("quote", "quasiquote") and len(node.items) == 2:
        node = node.items[1]
    if isinstance(node, Symbol):
        name = node.name
        if evaluator.bound(name, scope) is not None or name in FORMS:
            return True
        # A name with one of these prefixes may be an operation or a filter that this table lacks.
        if name.split("-")[0].strip("*") in _FAMILIES:
            return Unknown(Gap(f"whether {name} is defined"), form.line)
        return False
    return strange(form)


def _nothing(evaluator: Evaluator, form: List, scope: Scope) -> object:
    return NOTHING


def _macro(evaluator: Evaluator, form: List, scope: Scope) -> object:
    target = form.items[1] if len(form.items) > 1 else None
    name = target.head if isinstance(target, List) else str(target)
    evaluator.bind(name, Unknown(Gap(f"the macro {name}"), form.line), scope, form.line)
    return NOTHING


FORMS: dict[str, Special] = {
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
    "do": _do,
    "defined?": _is_defined,
    "debug": _nothing,
    "macro": _macro,
    "define-macro": _macro,
    "define-syntax": _macro,
}
