"""Two matrices beside each other: the cells that are not the same in both."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from boxspec.errors import UsageError
from boxspec.printable import one_line

SCHEMA = "boxspec-matrix/1"
# What a matrix says of a backend beside its cells. The command of its shim names a folder.
FACTS = ("control", "version", "mechanism", "why", "claims")


def read(name: str) -> dict[str, Any]:
    """A matrix out of a file; UsageError where it is none."""
    try:
        found = json.loads(Path(name).read_bytes())
    except OSError as why:
        raise UsageError(name, f"cannot be read: {why.strerror}", "name a matrix") from None
    except ValueError as why:
        raise UsageError(name, f"is no JSON: {why}", "name a matrix") from None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise UsageError(name, f"is no {SCHEMA}", "name what `matrix --json` wrote")
    return found


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    """One line for each thing that only one of them says."""
    yield from _differing(
        "host", one["host"], other["host"], sorted({*one["host"], *other["host"]})
    )
    first, second = _by_name(one), _by_name(other)
    for name in (*first, *(name for name in second if name not in first)):
        if name not in first or name not in second:
            yield f"{name}: only in the {'first' if name in first else 'second'}"
            continue
        yield from _differing(name, first[name], second[name], FACTS)
        yield from _cells(name, first[name], second[name])


def _cells(name: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    first, second = ({cell["test"]: cell for cell in each["cells"]} for each in (one, other))
    if bool(first) != bool(second):
        yield f"{name}: cells: {len(first)}, then {len(second)}"
        return
    for test in sorted({*first, *second}):
        if test not in first or test not in second:
            yield f"{name}, {test}: only in the {'first' if test in first else 'second'}"
        else:
            yield from _differing(f"{name}, {test}", first[test], second[test], ("state", "saw"))


def _differing(
    place: str, one: Mapping[str, Any], other: Mapping[str, Any], names: Iterable[str]
) -> Iterator[str]:
    for name in names:
        if one.get(name) != other.get(name):
            yield f"{place}: {name}: {one.get(name)!r}, then {other.get(name)!r}"


def _by_name(matrix: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {each["name"]: each for each in matrix["backends"]}


def _kits(matrix: Mapping[str, Any]) -> Iterator[str]:
    """The kits that asked for its columns: no difference by themselves."""
    for kit in (each["kit"] for each in matrix["backends"] if each.get("kit")):
        changed = ", changed" if kit["modified"] else ""
        yield f"{kit['version']} ({(kit['commit'] or 'no checkout')[:10]}{changed})"


def main(first: str, second: str) -> int:
    """Prints them; 0 where there is none, else 1."""
    one, other = read(first), read(second)
    try:
        found = list(differences(one, other))
        cells = sum(len(each["cells"]) for each in one["backends"])
        kits = sorted({*_kits(one), *_kits(other)})
    except (AttributeError, KeyError, TypeError) as why:
        raise UsageError(
            f"{first}, {second}",
            f"one of them is no whole matrix: {type(why).__name__}: {why}",
            "name what `matrix --json` wrote",
        ) from None
    for line in found:
        print(one_line(line))
    asked = f"; asked by: {', '.join(kits)}" if kits else ""
    print(f"differences: {len(found)}; backends: {len(one['backends'])}; cells: {cells}{asked}")
    return 1 if found else 0
