"""The functions of Scheme that profiles use: numbers, strings, lists and comparisons.

Each function takes evaluated arguments. If an argument has the wrong type, the value is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from contracts.sbpl.seatbelt.filters import Filter
from contracts.sbpl.seatbelt.values import (
    Builtin,
    Function,
    Nothing,
    NotSet,
    Quoted,
    Unknown,
    is_false,
)

LARGEST_NUMBER = 2**62
VALUE_BYTES = 65_536
VALUES = 10_000
_SPECIAL = re.compile(rb"[\\.\[\](){}*+?|^$]")


class Unfit(Exception):
    """Raised if the arguments do not fit the function, or if the value would become too large."""


Arguments = Sequence[object]
Function_ = Callable[[Arguments], object]


def number(value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unfit
    return value


def whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unfit
    return value


def text(value: object) -> bytes:
    if not isinstance(value, bytes):
        raise Unfit
    return value


def items(value: object) -> tuple[object, ...]:
    if not isinstance(value, tuple):
        raise Unfit
    return value


def small(value: int | float) -> int | float:
    if abs(value) > LARGEST_NUMBER:
        raise Unfit
    return value


def short(value: bytes) -> bytes:
    if len(value) > VALUE_BYTES:
        raise Unfit
    return value


def few(value: tuple[object, ...]) -> tuple[object, ...]:
    if len(value) > VALUES:
        raise Unfit
    return value


def _plus(given: Arguments) -> object:
    total: int | float = 0
    for each in given:
        total = small(total + number(each))
    return total


def _minus(given: Arguments) -> object:
    first, *rest = map(number, given)
    if not rest:
        return -first
    for each in rest:
        first = small(first - each)
    return first


def _times(given: Arguments) -> object:
    total: int | float = 1
    for each in given:
        total = small(total * number(each))
    return total


def _divided(given: Arguments) -> object:
    first, *rest = map(number, given)
    for each in rest or [first]:
        if not rest:
            first = 1
        exact = isinstance(first, int) and isinstance(each, int) and first % each == 0
        first = first // each if exact else small(first / each)
    return first


def _ordered(test: Callable[[int | float, int | float], bool]) -> Function_:
    def compare(given: Arguments) -> bool:
        numbers = [number(each) for each in given]
        return all(test(one, other) for one, other in pairwise(numbers))

    return compare


def _texts(test: Callable[[bytes, bytes], bool]) -> Function_:
    def compare(given: Arguments) -> bool:
        one, other = map(text, given)
        return test(one, other)

    return compare


def same(given: Arguments) -> bool:
    """The function `equal?`: compare values and nested lists without recursion."""
    one, other = given
    waiting = [(one, other)]
    steps = 0
    while waiting:
        steps += 1
        if steps > VALUES:
            raise Unfit
        left, right = waiting.pop()
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            raise Unfit
        if isinstance(left, tuple) and isinstance(right, tuple):
            if len(left) != len(right):
                return False
            waiting += zip(left, right, strict=True)
        elif is_false(left) or is_false(right):
            if is_false(left) is not is_false(right):
                return False
        elif isinstance(left, Function | Builtin | Filter):
            if left is not right:
                return False
        elif type(left) is not type(right) or left != right:
            return False
    return True


def _string_to_number(given: Arguments) -> object:
    word = text(given[0])
    base = whole(given[1]) if len(given) > 1 else 10
    digits = word.decode("ascii", "replace")
    if len(digits) > 18 or base not in (2, 8, 10, 16) or "_" in digits or digits != digits.strip():
        raise Unfit
    try:
        return int(digits, base)
    except ValueError:
        pass
    try:
        return float(digits) if re.fullmatch(r"[-+]?[0-9]*\.[0-9]+", digits) else False
    except ValueError:
        return False


def _append(given: Arguments) -> object:
    joined: tuple[object, ...] = ()
    for each in given:
        joined = few(joined + items(each))
    return joined


def _member(given: Arguments) -> object:
    wanted, among = given[0], items(given[1])
    for at, each in enumerate(among):
        if same((wanted, each)):
            return among[at:]
    return False


def _assoc(given: Arguments) -> object:
    wanted, among = given[0], items(given[1])
    return next((each for each in among if same((wanted, items(each)[0]))), False)


def _substring(given: Arguments) -> object:
    word, first = text(given[0]), whole(given[1])
    last = whole(given[2]) if len(given) > 2 else len(word)
    if not 0 <= first <= last <= len(word):
        raise Unfit
    return word[first:last]


def _string_append(given: Arguments) -> object:
    joined = b""
    for each in given:
        joined = short(joined + text(each))
    return joined


def _path_of(name: str) -> Function_:
    """Return the steps of a function such as `cadr`, from right to left.

    `a` takes the first item of a list, and `d` the rest.
    """

    def take(given: Arguments) -> object:
        (value,) = given
        for letter in reversed(name[1:-1]):
            among = items(value)
            value = among[0] if letter == "a" else among[1:]
            if letter == "d" and not among:
                raise Unfit
        return value

    return take


def _one(test: Callable[[object], object]) -> Function_:
    def call(given: Arguments) -> object:
        (value,) = given
        return test(value)

    return call


def _at(given: Arguments) -> object:
    among, index = items(given[0]), whole(given[1])
    if not 0 <= index < len(among):
        raise Unfit
    return among[index]


def _tail(given: Arguments) -> object:
    among, index = items(given[0]), whole(given[1])
    if not 0 <= index <= len(among):
        raise Unfit
    return among[index:]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


FUNCTIONS: dict[str, Function_] = {
    "+": _plus,
    "-": _minus,
    "*": _times,
    "/": _divided,
    "quotient": lambda given: int(whole(given[0]) / whole(given[1])),
    "remainder": lambda given: (lambda a, b: a - b * int(a / b))(whole(given[0]), whole(given[1])),
    "modulo": lambda given: whole(given[0]) % whole(given[1]),
    "abs": _one(lambda value: abs(number(value))),
    "max": lambda given: max(map(number, given)),
    "min": lambda given: min(map(number, given)),
    "=": _ordered(lambda one, other: one == other),
    "<": _ordered(lambda one, other: one < other),
    ">": _ordered(lambda one, other: one > other),
    "<=": _ordered(lambda one, other: one <= other),
    ">=": _ordered(lambda one, other: one >= other),
    "zero?": _one(lambda value: number(value) == 0),
    "positive?": _one(lambda value: number(value) > 0),
    "negative?": _one(lambda value: number(value) < 0),
    "even?": _one(lambda value: whole(value) % 2 == 0),
    "odd?": _one(lambda value: whole(value) % 2 == 1),
    "not": _one(is_false),
    "eq?": same,
    "eqv?": same,
    "equal?": same,
    "string=?": _texts(lambda one, other: one == other),
    "string<?": _texts(lambda one, other: one < other),
    "string>?": _texts(lambda one, other: one > other),
    "string<=?": _texts(lambda one, other: one <= other),
    "string>=?": _texts(lambda one, other: one >= other),
    "string-length": _one(lambda value: len(text(value))),
    "string-append": _string_append,
    "substring": _substring,
    "string->number": _string_to_number,
    "number->string": _one(lambda value: str(whole(value)).encode()),
    "symbol->string": _one(
        lambda value: value.encode() if isinstance(value, Quoted) else _unfit()
    ),
    "string->symbol": _one(lambda value: Quoted(text(value).decode("utf-8", "replace"))),
    "regex-quote": _one(lambda value: short(_SPECIAL.sub(rb"\\\g<0>", text(value)))),
    "list": lambda given: few(tuple(given)),
    "cons": lambda given: few((given[0], *items(given[1]))),
    "append": _append,
    "length": _one(lambda value: len(items(value))),
    "reverse": _one(lambda value: items(value)[::-1]),
    "list-ref": _at,
    "list-tail": _tail,
    "member": _member,
    "memq": _member,
    "memv": _member,
    "assoc": _assoc,
    "assq": _assoc,
    "assv": _assoc,
    "null?": _one(lambda value: value == ()),
    "pair?": _one(lambda value: isinstance(value, tuple) and value != ()),
    "list?": _one(lambda value: isinstance(value, tuple)),
    "string?": _one(lambda value: isinstance(value, bytes)),
    "number?": _one(_is_number),
    "integer?": _one(lambda value: isinstance(value, int) and not isinstance(value, bool)),
    "boolean?": _one(lambda value: isinstance(value, bool | NotSet)),
    "symbol?": _one(lambda value: isinstance(value, Quoted)),
    "procedure?": _one(lambda value: isinstance(value, Function | Builtin)),
    "sbpl-filter?": _one(lambda value: isinstance(value, Filter)),
    "void": lambda given: Nothing(),
    **{name: _path_of(name) for name in ("car", "cdr", "caar", "cadr", "cdar", "cddr", "caddr",
                                         "cdddr", "cadddr")},
}  # fmt: skip

# Python's functions raise these exceptions for arguments that do not fit.
UNFIT = (Unfit, TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError)


def _unfit() -> object:
    raise Unfit


def cost(given: Arguments) -> int:
    """Return the cost of a call in steps: one step for 16 values, and one step for 64 bytes."""
    steps = 1
    for each in given:
        if isinstance(each, tuple):
            steps += len(each) >> 4
        elif isinstance(each, bytes):
            steps += len(each) >> 6
    return steps
