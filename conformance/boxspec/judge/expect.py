"""Compare values with matchers: `expect` fails if a matcher does not accept a value.

A matcher also describes the values that it accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from boxspec.judge.difference import DIFFERENCE, difference
from boxspec.judge.verdict import Failure, Verdict

SHOWN = 400


class Matcher(Protocol):
    def accepts(self, got: Any) -> bool: ...

    def describe(self) -> str: ...


def shown(value: Any) -> str:
    """Return a value as text. If it is long, its middle is left out."""
    return _cut(_written(value))


def _cut(text: str) -> str:
    if len(text) <= SHOWN:
        return text
    half = SHOWN // 2
    return f"{text[:half]}…({len(text) - SHOWN} more)…{text[-half:]}"


def _written(value: Any, inside: bool = False) -> str:
    """Write `true` and `null` as JSON does, and the items of a list without its brackets.

    inside: True if the value is an item of another list. A list has parentheses there.
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float):
        return repr(round(value, 3))  # durations have many digits without a meaning
    if isinstance(value, set | frozenset):
        value = sorted(value, key=repr)
    if type(value) is dict:
        items = ", ".join(f"{name}: {_written(each, True)}" for name, each in value.items())
    elif isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        items = ", ".join(_written(each, True) for each in value)
    else:
        return repr(value)
    return f"({items})" if inside and items else items or "nothing"


@dataclass(frozen=True)
class Described:
    """A matcher built from a predicate and its description."""

    words: str
    test: Callable[[Any], bool]

    def accepts(self, got: Any) -> bool:
        return bool(self.test(got))

    def describe(self) -> str:
        return self.words


def _same(got: Any, wanted: Any) -> bool:
    # Python treats 1 and True as equal, JSON does not.
    if isinstance(got, bool) is not isinstance(wanted, bool):
        return False
    return bool(got == wanted)


@dataclass(frozen=True)
class Same:
    """A matcher that accepts one value."""

    wanted: Any

    def accepts(self, got: Any) -> bool:
        return _same(got, self.wanted)

    def describe(self) -> str:
        return shown(self.wanted)


def as_matcher(wanted: Any) -> Matcher:
    # Check for the two methods. `isinstance(wanted, Matcher)` has the same result, but takes ten
    # times as long.
    is_matcher = hasattr(wanted, "accepts") and hasattr(wanted, "describe")
    matcher: Matcher = wanted if is_matcher else Same(wanted)
    return matcher


def _number(got: Any) -> bool:
    return isinstance(got, int | float) and not isinstance(got, bool)


def at_least(low: float) -> Matcher:
    return Described(f"at least {low}", lambda got: _number(got) and got >= low)


def at_most(high: float) -> Matcher:
    """Accept a count or size of at most `high`.

    Time limits are checked by `expect_within` (see timing.py).
    """
    return Described(f"at most {high}", lambda got: _number(got) and got <= high)


def between(low: float, high: float) -> Matcher:
    return Described(f"between {low} and {high}", lambda got: _number(got) and low <= got <= high)


def one_of(*alternatives: Any) -> Matcher:
    """Accept any of the alternatives, which are values or matchers, or a single list, tuple or set
    of them."""
    if len(alternatives) == 1 and isinstance(alternatives[0], list | tuple | set | frozenset):
        alternatives = tuple(alternatives[0])
    each = [as_matcher(alternative) for alternative in alternatives]
    return Described(
        "one of: " + " | ".join(matcher.describe() for matcher in each),
        lambda got: any(matcher.accepts(got) for matcher in each),
    )


def contains(part: Any) -> Matcher:
    def test(got: Any) -> bool:
        try:
            return part in got
        except TypeError:
            return False

    return Described(f"something that contains {shown(part)}", test)


def startswith(prefix: Any) -> Matcher:
    """Accept a str or bytes with this prefix."""
    return Described(
        f"something that starts with {shown(prefix)}",
        lambda got: isinstance(got, type(prefix)) and got.startswith(prefix),
    )


def endswith(suffix: Any) -> Matcher:
    """Accept a str or bytes with this suffix."""
    return Described(
        f"something that ends with {shown(suffix)}, and nothing after it",
        lambda got: isinstance(got, type(suffix)) and got.endswith(suffix),
    )


def satisfies(
    first: str | Callable[[Any], Any], second: str | Callable[[Any], Any] = "the condition"
) -> Matcher:
    """Accept values for which a function returns True.

    The function and a description may come in either order.
    """
    if callable(first):
        assert isinstance(second, str)
        return Described(second, first)
    assert callable(second)
    return Described(first, second)


def expect(
    what: str,
    got: Any,
    wanted: Any,
    evidence: Mapping[str, Any] | None = None,
    verdict: Verdict | str = Verdict.FAILS,
    *,
    about: Any = None,
) -> None:
    """Raise a Failure if the matcher `wanted` does not accept `got`.

    evidence: further facts that the failure block shows.
    about: the answer whose request the failure block shows. By default it is the answer that
        contains the wrong value, or else the last answer.
    """
    matcher = as_matcher(wanted)
    if not matcher.accepts(got):
        differs = difference(got, wanted, _same, shown)
        words, actual = matcher.describe(), shown(got)
        if words == actual:
            # The two differ in their type, such as a list and its only item.
            words, actual = _cut(repr(wanted)), _cut(repr(got))
        raise Failure(
            what,
            words,
            actual,
            {**(evidence or {}), **({DIFFERENCE: differs} if differs else {})},
            Verdict(str(verdict)),
            asked=getattr(about or _offender(got, wanted), "message", None),
        )


def _offender(got: Any, wanted: Any) -> Any:
    """Return the answer that contains the wrong value.

    If the values are tuples, the first wrong part is examined.
    """
    if isinstance(got, tuple) and isinstance(wanted, tuple):
        pairs = zip(got, wanted, strict=False)
        got = next((part for part, right in pairs if not as_matcher(right).accepts(part)), None)
    return getattr(got, "answer", None)
