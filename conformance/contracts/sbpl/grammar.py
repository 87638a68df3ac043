"""Check that a text consists only of clauses that the page defines.

The decisions of the clauses do not matter here.
"""

from __future__ import annotations

from contracts.sbpl.seatbelt.forms import load
from contracts.sbpl.seatbelt.operations import known
from contracts.sbpl.seatbelt.reader import Constant, List, Node, String, Symbol, Unreadable, read

_STRINGS = ("literal", "subpath", "regex", "mac-policy-name")


def strange(data: bytes) -> list[str]:
    """Return the lines that are not clauses of the page."""
    *lines, last = data.split(b"\n")
    found = [] if last == b"" else ["the last line does not end"]
    forms: dict[int, list[Node]] = {}
    try:
        for form in read(data):
            forms.setdefault(form.line, []).append(form)
    except Unreadable as why:
        return [*found, f"{why.line}: {why.words}"]
    for number, line in enumerate(lines, 1):
        head, here = number <= 2, forms.get(number, [])
        if len(here) != 1 or not (_head(here[0], number) if head else _clause(here[0])):
            found.append(f"{number}: {line[:120]!r}")
        elif line != str(here[0]).encode("utf-8", "surrogateescape"):
            found.append(f"{number}: blanks or a comment in {line[:120]!r}")
    return found or _unknown(data)


def _unknown(data: bytes) -> list[str]:
    """Return the unknown forms in the filters of the clauses.

    Forms that SBPL-FILTER-07 reports are left out.
    """
    try:
        clauses = load(data).clauses
    except Unreadable as why:
        return [f"{why.line}: {why.words}"]
    return [
        f"{each.line}: {gap.words} is not known"
        for each in clauses
        if each.filter is not None
        for gap in each.filter.unknown()
        if not gap.dialect
    ]


def _head(form: Node, number: int) -> bool:
    return str(form) == ("(version 1)", "(deny default)")[number - 1]


def _clause(form: Node) -> bool:
    if not isinstance(form, List) or form.head not in ("allow", "deny"):
        return False
    operation, *filters = form.items[1:] or [None]
    good = isinstance(operation, Symbol) and known(operation.name) and operation.name != "default"
    return good and len(filters) <= 1 and all(map(_filter, filters))


def _filter(form: Node | None) -> bool:
    if not isinstance(form, List):
        return False
    arguments = form.items[1:]
    if form.head == "require-all":
        return len(arguments) >= 2 and all(map(_filter, arguments))
    if len(arguments) != 1:
        return False
    if form.head == "mac-syscall-number":
        return isinstance(arguments[0], Constant)
    return form.head in _STRINGS and isinstance(arguments[0], String)
