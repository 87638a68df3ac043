"""The functions of Scheme on characters, and on lists in the style of TinyScheme's own library."""

from __future__ import annotations

from collections.abc import Callable

from contracts.sbpl.seatbelt.functions import (
    Arguments,
    Function_,
    Unfit,
    few,
    items,
    short,
    text,
    whole,
)
from contracts.sbpl.seatbelt.values import Letter


def _letter(value: object) -> Letter:
    if not isinstance(value, Letter):
        raise Unfit
    return value


def _ref(given: Arguments) -> object:
    word, index = text(given[0]), whole(given[1])
    if not 0 <= index < len(word):
        raise Unfit
    return Letter(word[index])


def _compared(test: Callable[[int, int], bool]) -> Function_:
    def compare(given: Arguments) -> bool:
        one, other = map(_letter, given)
        return test(one.code, other.code)

    return compare


def _to_letter(given: Arguments) -> object:
    (code,) = map(whole, given)
    if not 0 <= code < 256:
        raise Unfit
    return Letter(code)


def _joined(given: Arguments) -> object:
    return short(bytes(_letter(each).code for each in given))


def _of_list(given: Arguments) -> object:
    (letters,) = map(items, given)
    return _joined(letters)


def _letters(given: Arguments) -> object:
    (word,) = map(text, given)
    return few(tuple(map(Letter, word)))


def _ioctl(given: Arguments) -> object:
    """The function `_IO`: compose the number of a command from its group and its own number."""
    group, number = text(given[0]), whole(given[1])
    return number + 256 * group[0]


def _last(given: Arguments) -> object:
    (among,) = map(items, given)
    return among[-1:]


def _changed(change: Callable[[bytes], bytes]) -> Function_:
    def call(given: Arguments) -> object:
        (word,) = map(text, given)
        return change(word)

    return call


FUNCTIONS: dict[str, Function_] = {
    "string-ref": _ref,
    "string->list": _letters,
    "list->string": _of_list,
    "string": _joined,
    "string-upcase": _changed(bytes.upper),
    "string-downcase": _changed(bytes.lower),
    "char?": lambda given: isinstance(given[0], Letter),
    "char=?": _compared(lambda one, other: one == other),
    "char<?": _compared(lambda one, other: one < other),
    "char>?": _compared(lambda one, other: one > other),
    "char->integer": lambda given: _letter(given[0]).code,
    "integer->char": _to_letter,
    "last-pair": _last,
    "_IO": _ioctl,
}
