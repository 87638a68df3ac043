"""Read and write the JSON of the protocol. Each message is one object."""

from __future__ import annotations

# _json is imported directly: json.py imports re and enum, which takes as long as the rest of the
# start
import _json

from errors import Failed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from kinds import Object


INFINITY = float("inf")


class Format:
    """The attributes that the json module's scanner in C reads."""

    strict = True
    object_hook = None

    @staticmethod
    def parse_float(digits: str) -> float:
        found = float(digits)
        if found in (INFINITY, -INFINITY):
            raise ValueError(f"{digits} is beyond all numbers")
        return found

    parse_int = int

    @staticmethod
    def object_pairs_hook(members: list[tuple[str, object]]) -> Object:
        found = dict(members)
        if len(found) != len(members):
            raise ValueError("a member is given twice")
        return found

    @staticmethod
    def parse_constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is not JSON")


scanner = _json.make_scanner(Format)  # type: ignore[arg-type] # any object with these attributes will do


def scan(text: str) -> tuple[object, int]:
    """Return the value at the start of the text, and the offset of its end.

    Raise StopIteration if no value starts there, ValueError if the value is malformed.
    """
    try:
        return scanner(text, 0)
    except SystemError:
        # If the scanner fails, it raises an exception of json.decoder. That module must be imported
        # by then.
        __import__("json.decoder")
        return scanner(text, 0)


def parse(data: bytes) -> Object:
    try:
        text = data.decode().strip(" \t\r\n")
        value, end = scan(text)
        if end != len(text):
            raise ValueError("more than one value")
    except StopIteration:
        raise Failed("invalid_input", "not JSON") from None
    except (ValueError, RecursionError) as e:
        raise Failed("invalid_input", f"not JSON: {e}") from None
    if not isinstance(value, dict):
        raise Failed("invalid_input", "not a JSON object")
    return value


def dump(value: object) -> str:
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return _json.encode_basestring_ascii(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{dump(k)}: {dump(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(dump, value)) + "]"
    return str(value)
