"""Read the fields of a request.

Every mistake is reported with the name of its field, and no field is ignored.
"""

from __future__ import annotations

from binascii import Error as BadBase64
from binascii import a2b_base64

from errors import Failed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn, TypeVar

    T = TypeVar("T")
    Decode = Callable[[str], bytes]
    Convert = Callable[["Reader", str, object, Decode], T]

LARGEST = 2**64 - 1


class Reader:
    """Takes fields out of an object, one by one. A field that remains at the end is unknown."""

    def __init__(self, value: object, pointer: str) -> None:
        self.pointer = pointer
        if not isinstance(value, dict):
            self.wrong("", "must be an object")
        self.fields: dict[str, Any] = dict(value)

    def wrong(self, name: str, why: str) -> NoReturn:
        pointer = f"{self.pointer}/{name}" if name else self.pointer
        problem = {"pointer": pointer, "message": why}
        raise Failed("invalid_input", f"{pointer} {why}", [problem])

    def take(self, name: str, kind: type[T]) -> T | None:
        """Return the value of a field, or None if it is absent."""
        if name not in self.fields:
            return None
        value = self.fields.pop(name)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self.wrong(name, f"must be of type {kind.__name__}")
        return value

    def need(self, name: str, kind: type[T]) -> T:
        self.require(name)
        value = self.take(name, kind)
        assert value is not None
        return value

    def take_integer(self, name: str) -> int | None:
        value = self.take(name, int)
        if value is not None and not 0 <= value <= LARGEST:
            self.wrong(name, f"must be from 0 to {LARGEST}")
        return value

    def take_choice(self, name: str, choices: Sequence[str]) -> str:
        """Return one of `choices`; the first choice if the field is absent."""
        value = self.take(name, str)
        if value is None:
            return choices[0]
        if value not in choices:
            self.wrong(name, f"must be one of {', '.join(choices)}")
        return value

    def take_encoded(self, name: str, convert: Convert[T]) -> T | None:
        """Return the decoded value of `name` (text) or `name_b64` (Base64)."""
        encoded = name + "_b64"
        if name in self.fields and encoded in self.fields:
            self.wrong(encoded, f"and {name} exclude each other")
        if encoded in self.fields:
            return convert(self, encoded, self.fields.pop(encoded), from_base64)
        if name in self.fields:
            return convert(self, name, self.fields.pop(name), from_text)
        return None

    def need_encoded(self, name: str, convert: Convert[T]) -> T:
        if name + "_b64" not in self.fields:
            self.require(name)
        value = self.take_encoded(name, convert)
        assert value is not None
        return value

    def require(self, name: str) -> None:
        if name not in self.fields:
            self.wrong(name, "is missing")

    def done(self) -> None:
        for name in self.fields:
            self.wrong(name, "is not known")


def from_text(value: str) -> bytes:
    return value.encode()


def from_base64(value: str) -> bytes:
    return a2b_base64(value.encode("ascii"), strict_mode=True)


def one(reader: Reader, name: str, value: object, decode: Decode) -> bytes:
    if not isinstance(value, str):
        reader.wrong(name, "must be of type str")
    try:
        return decode(value)
    except (BadBase64, UnicodeError) as e:
        reader.wrong(name, f"cannot be decoded: {e}")


def several(reader: Reader, name: str, value: object, decode: Decode) -> list[bytes]:
    if not isinstance(value, list):
        reader.wrong(name, "must be of type list")
    return [one(reader, f"{name}/{i}", v, decode) for i, v in enumerate(value)]


def pairs(reader: Reader, name: str, value: object, decode: Decode) -> list[tuple[bytes, bytes]]:
    if not isinstance(value, list):
        reader.wrong(name, "must be of type list")
    for i, pair in enumerate(value):
        if not isinstance(pair, list) or len(pair) != 2:
            reader.wrong(f"{name}/{i}", "must be a pair")
    found = (several(reader, f"{name}/{i}", p, decode) for i, p in enumerate(value))
    return [(first, second) for first, second in found]
