"""The text of a policy file, and problems with their positions."""

from __future__ import annotations

from bisect import bisect_right

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

LONGEST = 4 * 1024 * 1024
DEEPEST = 64


class Problem:
    """A problem. `at` is a position in the text, in code points."""

    def __init__(self, at: int, pointer: str, message: str) -> None:
        self.at = at
        self.pointer = pointer
        self.message = message


class Malformed(Exception):
    """Raised for a file that is not JSON or YAML. The file then has no other problem."""

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.at = at
        self.message = message


class Source:
    def __init__(self, data: bytes) -> None:
        self.text = ""
        self.starts: list[int] | None = None
        self.failure: Malformed | None = None
        try:
            self.text = self.read(data)
        except Malformed as failure:
            self.failure = failure

    def read(self, data: bytes) -> str:
        if len(data) > LONGEST:
            raise Malformed(0, f"the file is longer than {LONGEST} bytes (4 MiB)")
        try:
            text = data.decode()
        except UnicodeDecodeError as e:
            self.text = data[: e.start].decode()
            raise Malformed(len(self.text), "the file is not UTF-8") from None
        if text.startswith("\ufeff"):
            raise Malformed(0, "the file begins with a byte order mark")
        self.text = text
        self.refuse_nul(text)
        return text

    def refuse_nul(self, text: str) -> None:
        if "\0" in text:
            raise Malformed(text.index("\0"), "the file holds a NUL")

    def place(self, at: int) -> tuple[int, int]:
        """Return (line, column), both from 1."""
        if self.starts is None:
            self.starts = [0, *self.line_starts()]
        line = bisect_right(self.starts, at)
        return line, at - self.starts[line - 1] + 1

    def line_starts(self) -> Iterator[int]:
        at = 0
        for line in self.text.replace("\r\n", " \n").replace("\r", "\n").split("\n")[:-1]:
            at += len(line) + 1
            yield at


class Node:
    """A value in JSON or YAML.

    kind: object, array, string, integer, number, boolean or null.
    """

    __slots__ = ("at", "kind", "value")

    def __init__(self, kind: str, at: int, value: Any) -> None:
        self.kind = kind
        self.at = at
        # a list of Members for an object, a list of Nodes for an array, a text for a string or an
        # integer
        self.value = value


class Member:
    """A member of an object.

    repeated: True if an earlier member of the object has the same name.
    """

    __slots__ = ("at", "name", "node", "repeated")

    def __init__(self, name: str, at: int, node: Node, repeated: bool) -> None:
        self.name = name
        self.at = at
        self.node = node
        self.repeated = repeated


class Open:
    """An object or array that has not ended yet."""

    def __init__(self, kind: str, at: int) -> None:
        self.node = Node(kind, at, [])
        self.names: set[str] = set()
        self.key: tuple[str, int] | None = None  # the name of the current member, and its position

    def add(self, node: Node) -> None:
        if self.node.kind == "array":
            self.node.value.append(node)
            return
        assert self.key is not None
        name, at = self.key
        self.node.value.append(Member(name, at, node, name in self.names))
        self.names.add(name)
        self.key = None


def too_deep(at: int) -> Malformed:
    return Malformed(at, f"nested deeper than {DEEPEST} levels")
