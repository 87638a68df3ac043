"""Find secret environment variables, and replace their values in a stream."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MARK = b"[REDACTED_ENV]"
SHORTEST = 4

PARTS = (
    "SECRET", "TOKEN", "PASSWORD", "PASSWD", "PASSCODE",
    "API_KEY", "PRIVATE", "CREDENTIAL", "COOKIE", "BEARER",
)  # fmt: skip
WORDS = {"AUTH", "SESSION"}


def is_sensitive(name: bytes) -> bool:
    upper = name.decode("utf-8", "replace").upper()
    return (
        any(part in upper for part in PARTS)
        or upper.endswith("_KEY")
        or not WORDS.isdisjoint(upper.split("_"))
    )


def secrets(*environments: dict[bytes, bytes]) -> set[bytes]:
    values = set()
    for environment in environments:
        for name, value in environment.items():
            value = value.strip()
            if is_sensitive(name) and len(value.decode("utf-8", "replace")) >= SHORTEST:
                values.add(value)
    return values


class Redactor:
    """Replaces secrets in the pieces of one stream. Overlapping secrets are replaced together."""

    def __init__(self, values: Iterable[bytes]) -> None:
        self.values = values
        # the last bytes of the stream so far; they may be the beginning of a secret
        self.held = b""
        # the number of bytes of `held` that belong to a secret which is already replaced
        self.covered = 0

    def feed(self, chunk: bytes, last: bool = False) -> bytes:
        data = self.held + chunk
        keep = len(data) if last else self.undecided_from(data)
        out = []
        covered = self.covered
        for start, end in self.matches(data):
            if start < covered:
                covered = max(covered, end)
            elif start < keep:
                out += [data[covered:start], MARK]
                covered = end
        out.append(data[covered:keep])
        self.held = data[keep:]
        self.covered = max(0, covered - keep)
        return b"".join(out)

    def undecided_from(self, data: bytes) -> int:
        """Return the offset of the first incomplete secret at the end of data.

        If there is none, return the length of data.
        """
        first = len(data)
        for value in self.values:
            for start in range(max(0, len(data) - len(value) + 1), first):
                if value.startswith(data[start:]):
                    first = start
                    break
        return first

    def matches(self, data: bytes) -> list[tuple[int, int]]:
        found = []
        for value in self.values:
            start = data.find(value)
            while start >= 0:
                found.append((start, start + len(value)))
                start = data.find(value, start + 1)
        return sorted(found)


def format_env(pairs: list[tuple[bytes, bytes]] | None) -> str:
    if pairs is None:
        return "Inherit"
    shown = (
        f"({quoted(name)}, {quoted(b'[REDACTED]' if is_sensitive(name) else value)})"
        for name, value in pairs
    )
    return f"ClearAndSet([{', '.join(shown)}])"


ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}


def quoted(data: bytes) -> str:
    return '"' + "".join(map(escaped, data.decode("utf-8", "replace"))) + '"'


def escaped(character: str) -> str:
    if character in ESCAPES:
        return ESCAPES[character]
    return character if character.isprintable() else f"\\u{{{ord(character):x}}}"
