"""Convert a rule to a filter: (literal …), (subpath …) or (regex …)."""

from __future__ import annotations

import policy.glob as glob
import sbpl.spellings as spellings
from sbpl.places import below, refuse_controls, refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from policy.decide import Entry

LONGEST = 1000
SPECIAL = "\\.[](){}*+?^$|"

# `?` means one character. It is unknown whether the kernel counts bytes or characters. So in a deny
# `?` matches up to four bytes that are not ASCII, and in an allow it matches only ASCII.
ONE_DENIED = "([ -.0-~]|[^ -~][^ -~]?[^ -~]?[^ -~]?)"
ONE_ALLOWED = "[ -.0-~]"
# If names fold, a letter with its marks counts as one character. So up to eight further bytes that
# are not ASCII may follow.
ONE_FOLDED = "[^/]" + 8 * "[^ -~]?"

DEEP = (glob.ANYTHING, glob.SEGMENTS, glob.BELOW)
EXPRESSIONS = {
    glob.SEGMENTS: "(.*/)?",
    glob.BELOW: "(/.*)?",
    glob.ANYTHING: ".*",
    glob.STAR: "[^/]*",
    glob.ANY_NAME: "[^/]+",
}


def quoted(text: str, pointer: str) -> str:
    """Return a string literal for the text. Errors name the `pointer`."""
    refuse_controls(text, pointer)
    inner = escape(text)
    if size(inner) > LONGEST:
        why = f"becomes a string of {size(inner)} bytes, {LONGEST} are the most; shorten it"
        raise refused(pointer, why)
    return f'"{inner}"'


def escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def size(inner: str) -> int:
    return len(inner.encode())


def literal(path: str, pointer: str) -> str:
    return f"(literal {quoted(path, pointer)})"


def subpath(path: str, pointer: str) -> str:
    return f"(subpath {quoted(path, pointer)})"


def regex(expression: str, pointer: str) -> str:
    return f"(regex {quoted(expression, pointer)})"


class Filters:
    """Makes the filters of the rules below one root."""

    def __init__(self, root: str, fold: bool) -> None:
        self.root = root
        self.fold = fold

    def of(self, entry: Entry, denied: bool) -> str:
        """Return the filter of an entry.

        denied: True if the filter is for a clause that denies.
        """
        found = pieces(entry.rule.body)
        where = entry.rule.pointer
        if self.fold:
            return self.pattern(found, denied, where)
        if entry.rule.body == ".":
            return literal(self.root, where)
        if is_everything(found):
            return subpath(self.root, where)
        if not has_wildcard(found):
            return literal(self.path(found), where)
        if is_subtree(found):
            return subpath(self.path(found[:-1]), where)
        return self.pattern(found, denied, where)

    def path(self, characters: Iterable[str]) -> str:
        return below(self.root) + "".join(characters)

    def ancestor(self, names: Iterable[str], pointer: str) -> str:
        if self.fold:
            return self.pattern("/".join(names), True, pointer)
        return literal(self.path("/".join(names)), pointer)

    def pattern(self, found: Sequence[str], denied: bool, pointer: str) -> str:
        return regex(anchored(self.expression(found, denied)), pointer)

    def expression(self, found: Sequence[str], denied: bool) -> str:
        """Return the expression of a pattern.

        The root is literal even if names fold, because the root is one directory.
        """
        if is_everything(found):
            return literally(self.root.rstrip("/")) + EXPRESSIONS[glob.BELOW]
        root = below(self.root) if found else self.root
        return literally(root) + "".join(self.written(run, denied) for run in runs(found))

    def written(self, run: str, denied: bool) -> str:
        """Return the expression of a wildcard or of literal characters."""
        if run == glob.ONE:
            return one(denied, self.fold)
        if run in EXPRESSIONS:
            return EXPRESSIONS[run]
        return spellings.expression(run, literally) if self.fold else literally(run)


def literally(characters: str) -> str:
    return "".join("\\" + c if c in SPECIAL else c for c in characters)


def anchored(expression: str) -> str:
    return f"^{expression}$"


def one(denied: bool, fold: bool) -> str:
    if not denied:
        return ONE_ALLOWED
    return ONE_FOLDED if fold else ONE_DENIED


def runs(found: Iterable[str]) -> Iterator[str]:
    """Yield each wildcard separately, and other characters in groups.

    One spelling may cover several characters, so characters are not separated.
    """
    run = ""
    for piece in found:
        if is_wildcard(piece):
            yield from (run, piece) if run else (piece,)
            run = ""
        else:
            run += piece
    if run:
        yield run


def pieces(body: str) -> list[str]:
    """Split a body in the way that globs do. Of several `**` segments in a row, one is kept."""
    found: list[str] = []
    for piece in glob.pieces(body):
        repeated = found[-1:] == [piece] or is_everything(found)
        if not (piece in DEEP and repeated):
            found.append(piece)
    return found


def is_everything(found: Sequence[str]) -> bool:
    """True for `**`, even if it is repeated."""
    return found == [glob.ANYTHING]


def is_wildcard(piece: str) -> bool:
    return piece == glob.ONE or piece in EXPRESSIONS


def has_wildcard(found: Iterable[str]) -> bool:
    return any(map(is_wildcard, found))


def is_subtree(found: Sequence[str]) -> bool:
    return bool(found) and found[-1] == glob.BELOW and not has_wildcard(found[:-1])


def plain_names(body: str) -> list[str]:
    """Return the leading segments without wildcards. For `P/**` this is all of P."""
    names: list[str] = []
    for name in body.split("/"):
        if name == "." or wild(name):
            return names
        names.append(name)
    return names


def wild(name: str) -> bool:
    return "*" in name or "?" in name
