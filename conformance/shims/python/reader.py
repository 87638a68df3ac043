"""Fields out of the JSON of a request: each mistake is named, nothing is ignored."""

from binascii import Error as BadBase64
from binascii import a2b_base64

from errors import Failed

LARGEST = 2**64 - 1


class Reader:
    """Takes the fields out of an object one by one; what is left at the end is unknown."""

    def __init__(self, value, pointer):
        self.pointer = pointer
        if not isinstance(value, dict):
            self.wrong("", "must be an object")
        self.fields = dict(value)

    def wrong(self, name, why):
        pointer = f"{self.pointer}/{name}" if name else self.pointer
        problem = {"pointer": pointer, "message": why}
        raise Failed("invalid_input", f"{pointer} {why}", [problem])

    def take(self, name, kind, default=None, required=False):
        if name not in self.fields:
            if required:
                self.wrong(name, "is missing")
            return default
        value = self.fields.pop(name)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self.wrong(name, f"must be of type {kind.__name__}")
        return value

    def take_integer(self, name, default=None):
        value = self.take(name, int, default)
        if value is not default and not 0 <= value <= LARGEST:
            self.wrong(name, f"must be from 0 to {LARGEST}")
        return value

    def take_choice(self, name, choices):
        value = self.take(name, str, choices[0])
        if value not in choices:
            self.wrong(name, f"must be one of {', '.join(choices)}")
        return value

    def take_twin(self, name, convert, default=None, required=False):
        """`name` with text or `name_b64` with base64, converted with the fitting decoder."""
        twin = name + "_b64"
        if name in self.fields and twin in self.fields:
            self.wrong(twin, f"and {name} exclude each other")
        if twin in self.fields:
            return convert(self, twin, self.fields.pop(twin), from_base64)
        if name in self.fields:
            return convert(self, name, self.fields.pop(name), from_text)
        if required:
            self.wrong(name, "is missing")
        return default

    def done(self):
        for name in self.fields:
            self.wrong(name, "is not known")


def from_text(value):
    return value.encode()


def from_base64(value):
    return a2b_base64(value.encode("ascii"), strict_mode=True)


def one(reader, name, value, decode):
    if not isinstance(value, str):
        reader.wrong(name, "must be of type str")
    try:
        return decode(value)
    except (BadBase64, UnicodeError) as e:
        reader.wrong(name, f"cannot be decoded: {e}")


def several(reader, name, value, decode):
    if not isinstance(value, list):
        reader.wrong(name, "must be of type list")
    return [one(reader, f"{name}/{i}", v, decode) for i, v in enumerate(value)]


def pairs(reader, name, value, decode):
    if not isinstance(value, list):
        reader.wrong(name, "must be of type list")
    for i, pair in enumerate(value):
        if not isinstance(pair, list) or len(pair) != 2:
            reader.wrong(f"{name}/{i}", "must be a pair")
    return [tuple(several(reader, f"{name}/{i}", p, decode)) for i, p in enumerate(value)]
