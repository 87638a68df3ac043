"""Several settings files of one tool: objects and lists of all files count together, and for any
other key the file with the highest rank decides.

Each file is read with the members of the other files added. An added member has the line OTHER, so
that its entry is left out: it belongs to another file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from boxspec.verify.meaning import Entry, Meaning, Where
from dialects.reading_json import JsonError, Node, Pairs, parse

OTHER = 0
Reader = Callable[[Node, Where], list[Entry]]
# True if the objects of a key in all files are joined, or the lists if the second argument is True.
Joins = Callable[[str, bool], bool]


def joins_all(key: str, is_list: bool) -> bool:
    return True


@dataclass(frozen=True)
class File:
    """One settings file. `rank`: of two files, the one with the higher rank decides."""

    text: str
    where: Where
    rank: int

    @cached_property
    def node(self) -> Node | None:
        """Return the object in the file, or None if the tool discards the file."""
        try:
            found = parse(self.text)
        except JsonError:
            return None
        return found if isinstance(found.value, Pairs) else None


def read_together(
    own: File, others: Sequence[File], read: Reader, joins: Joins = joins_all
) -> list[Entry]:
    """Return the entries of a file that has an object, with the effects of the other files."""
    node = own.node
    assert node is not None
    dead: list[Entry] = []
    for other in sorted(others, key=lambda each: -each.rank):
        added = other.node
        if added is not None:
            wins = other.rank > own.rank
            node = _Merging(other, wins, joins, dead).merged(node, added, "")
    return [*dead, *(each for each in read(node, own.where) if each.line != OTHER)]


@dataclass(frozen=True)
class _Merging:
    """Add the members of another file.

    wins: True if this file decides about keys that both files have.
    dead: gets an entry for each own value that does not count.
    """

    file: File
    wins: bool
    joins: Joins
    dead: list[Entry]

    def merged(self, own: Node, other: Node, key: str) -> Node:
        lists = isinstance(own.value, list) and isinstance(other.value, list)
        objects = isinstance(own.value, Pairs) and isinstance(other.value, Pairs)
        if objects and (not key or self.joins(key, False)):
            return self._members(own, other, key)
        if lists and self.joins(key, True):
            return replace(own, value=[*own.value, *map(_without_lines, other.value)])
        # The files come in the order of their ranks, so an added value is of a file with a higher
        # rank.
        if not self.wins or own.line == OTHER:
            return own
        if own.plain() != other.plain():
            place = f"{self.file.where.file.name}:{other.line}"
            why = f"{place} has a higher rank, and sets {other.shown}"
            self.dead.append(Entry(own.line, key, own.shown, Meaning.DEAD, why))
        return _without_lines(other)

    def _members(self, own: Node, other: Node, key: str) -> Node:
        names = dict.fromkeys(name for name, _ in [*own.members, *other.members])
        pairs = [*own.members]
        for name in names:
            theirs, mine = other.get(name), own.get(name)
            path = f"{key}.{name}" if key else name
            if theirs is None:
                continue
            made = _without_lines(theirs) if mine is None else self.merged(mine, theirs, path)
            pairs = [each for each in pairs if each[1] is not mine] + [(name, made)]
        return replace(own, value=Pairs(pairs))


def _without_lines(node: Node) -> Node:
    if isinstance(node.value, Pairs):
        pairs = [(name, _without_lines(each)) for name, each in node.value.pairs]
        return Node(Pairs(pairs), OTHER)
    if isinstance(node.value, list):
        return Node([*map(_without_lines, node.value)], OTHER)
    return Node(node.value, OTHER)
