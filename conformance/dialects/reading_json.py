"""JSON with the line of each value. Comments and last commas are allowed, as in JSONC."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

DEPTH_MOST = 64
_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.S)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"', re.S)
_PLAIN = re.compile(r"[-+.\w]+")


@dataclass(frozen=True)
class Node:
    """A value: a dict of nodes as a list of pairs, a list of nodes, or a plain value."""

    value: Any
    line: int

    @property
    def members(self) -> list[tuple[str, Node]]:
        """The members of an object, also repeated ones; [] for any other value."""
        return self.value.pairs if isinstance(self.value, Pairs) else []

    def get(self, name: str) -> Node | None:
        """Return the last member with this name, because JSON readers use the last one."""
        return next((node for key, node in reversed(self.members) if key == name), None)

    @property
    def shown(self) -> str:
        return json.dumps(self.plain(), ensure_ascii=False)[:200]

    def plain(self) -> Any:
        if isinstance(self.value, Pairs):
            return {key: node.plain() for key, node in self.value.pairs}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value


@dataclass(frozen=True)
class Pairs:
    pairs: list[tuple[str, Node]]


class JsonError(Exception):
    """line: where the text is not valid JSON."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.line = line


def parse(text: str) -> Node:
    """Return the value of a text, or raise JsonError."""
    reader = _Reader(text)
    node = reader.value(0)
    reader.space()
    if reader.at != len(text):
        raise reader.error("more text after the value")
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def error(self, problem: str) -> JsonError:
        return JsonError(problem, self.line)

    @property
    def line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def space(self) -> None:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def take(self, mark: str) -> bool:
        self.space()
        if self.text.startswith(mark, self.at):
            self.at += len(mark)
            return True
        return False

    def value(self, depth: int) -> Node:
        self.space()
        line = self.line
        if depth > DEPTH_MOST:
            raise self.error("nested too deeply")
        if self.take("{"):
            return Node(Pairs(self.pairs(depth)), line)
        if self.take("["):
            return Node(self.items(depth), line)
        return Node(self.plain(), line)

    def pairs(self, depth: int) -> list[tuple[str, Node]]:
        made: list[tuple[str, Node]] = []
        while not self.take("}"):
            if made and not self.take(","):
                raise self.error("a comma or } is missing")
            if self.take("}"):
                break
            key = self.plain()
            if not isinstance(key, str):
                raise self.error("a key is not a string")
            if not self.take(":"):
                raise self.error(f"a colon is missing after {key!r}")
            made.append((key, self.value(depth + 1)))
        return made

    def items(self, depth: int) -> list[Node]:
        made: list[Node] = []
        while not self.take("]"):
            if made and not self.take(","):
                raise self.error("a comma or ] is missing")
            if self.take("]"):
                break
            made.append(self.value(depth + 1))
        return made

    def plain(self) -> Any:
        self.space()
        found = _STRING.match(self.text, self.at) or _PLAIN.match(self.text, self.at)
        if found is None:
            raise self.error("no value")
        try:
            value = json.loads(found[0], strict=False)
        except (ValueError, RecursionError):
            raise self.error(f"no value: {found[0][:40]}") from None
        self.at = found.end()
        return value
