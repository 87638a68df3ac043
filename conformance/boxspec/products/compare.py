"""Compare two matrices: list each fact and each cell that differs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from boxspec.errors import UsageError
from boxspec.printable import one_line
from boxspec.products.view import Columns, View

REMEDY = "name a file of `products matrix --json`"


def main(matrices: Sequence[str], views: Sequence[View]) -> int:
    """Print the differences; return 1 if there are any, else 0."""
    first, second = matrices
    (one, view), (other, other_view) = (_read(name, views) for name in (first, second))
    if view.schema != other_view.schema:
        raise UsageError(second, f"does not have the schema {view.schema} of {first}", REMEDY)
    try:
        columns, others = view.columns(one), view.columns(other)
        found = [*_hosts(one, other), *differences(columns, others)]
        kits = sorted({*_kits(one), *_kits(other)})
    except (AttributeError, KeyError, TypeError) as why:
        problem = f"one of them is not a complete matrix: {type(why).__name__}: {why}"
        raise UsageError(f"{first}, {second}", problem, REMEDY) from None
    for line in found:
        print(one_line(line))
    cells = sum(len(cells) for _, cells in columns.values())
    asked = f"; asked by: {', '.join(kits)}" if kits else ""
    print(f"differences: {len(found)}; products: {len(columns)}; cells: {cells}{asked}")
    return 1 if found else 0


def differences(one: Columns, other: Columns) -> Iterator[str]:
    """Return one line for each difference."""
    for name in dict.fromkeys([*one, *other]):
        if name not in one or name not in other:
            yield f"{name}: only in the {'first' if name in one else 'second'}"
            continue
        (facts, cells), (other_facts, other_cells) = one[name], other[name]
        yield from _differing(name, facts, other_facts)
        if bool(cells) != bool(other_cells):
            yield f"{name}: cells: {len(cells)}, then {len(other_cells)}"
            continue
        for test in sorted({*cells, *other_cells}):
            if test not in cells or test not in other_cells:
                yield f"{name}, {test}: only in the {'first' if test in cells else 'second'}"
            else:
                yield from _differing(f"{name}, {test}", cells[test], other_cells[test])


def _hosts(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    yield from _differing("host", one.get("host", {}), other.get("host", {}))


def _differing(place: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    for name in dict.fromkeys([*one, *other]):
        if one.get(name) != other.get(name):
            yield f"{place}: {name}: {one.get(name)!r}, then {other.get(name)!r}"


def _kits(plain: Mapping[str, Any]) -> Iterator[str]:
    """Return a line for each kit that has judged products, with version and commit."""
    for each in plain.get("backends") or plain.get("results") or ():
        kit = each.get("kit")
        if kit:
            changed = ", changed" if kit.get("modified") else ""
            yield f"{kit['version']} ({(kit['commit'] or 'unknown')[:10]}{changed})"


def _read(name: str, views: Sequence[View]) -> tuple[dict[str, Any], View]:
    try:
        found = json.loads(Path(name).read_bytes())
    except OSError as why:
        raise UsageError(name, f"cannot be read: {why.strerror}", REMEDY) from None
    except ValueError as why:
        raise UsageError(name, f"is not valid JSON: {why}", REMEDY) from None
    schema = found.get("schema") if isinstance(found, dict) else None
    for view in views:
        if schema == view.schema:
            return found, view
    raise UsageError(
        name, f"has none of these schemas: {', '.join(view.schema for view in views)}", REMEDY
    )
