"""Make the tables of the protocol page: declarations of the contracts, and kinds of errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jsonschema_rs import Resolver

from boxspec.pages.table import row, table
from boxspec.subject.client import schema
from boxspec.subject.contract import every


def capabilities() -> list[str]:
    rows = [
        row(f"`{name}`", promise)
        for contract in every()
        for name, promise in contract.capabilities.items()
    ]
    return table(["capability", "allows"], rows)


def operations() -> list[str]:
    rows = [row("`hello`", _title("hello"), "", "yes", "yes")]
    for contract in every():
        for op, capability in contract.operations.items():
            serve = "`invalid_input`" if op in contract.run_only else "yes"
            rows.append(row(f"`{op}`", _title(op), f"`{capability}`", "yes", serve))
    rows.append(row("`bye`", _title("bye"), "", "-", "yes"))
    rows.append(row("any other", "", "", "`unsupported`", "`unsupported`"))
    return table(["operation", "what it asks for", "needs", "in run", "in serve"], rows)


def encoded() -> list[str]:
    """Return the table of the request fields that have a form for bytes, by their object."""
    found: dict[str, set[str]] = {}
    for contract in every():
        for op in contract.operations:
            request = schema.at(f"{schema.documents()[op]['$id']}#/$defs/request")
            for place in _encoded(request.contents, request.resolver):
                above, _, name = place.rpartition(".")
                holder = above.rpartition(".")[2].removesuffix("[]")
                has_it = f"`{holder}`" if holder else f"a request of `{op}`"
                found.setdefault(has_it, set()).add(name)
    rows = [
        row(holder, ", ".join(f"`{name}`" for name in sorted(names)))
        for holder, names in sorted(found.items())
    ]
    return table(["object", "fields"], rows)


def _encoded(
    asked: Any, resolver: Resolver, at: str = "", within: tuple[str, ...] = ()
) -> Iterator[str]:
    """Yield the place of each field with the suffix `_b64`, such as `checks[].path_b64`.

    within: the references on the way to this schema. They are not followed again, because steps
        contain steps.
    """
    if not isinstance(asked, dict) or asked.get("$ref") in within:
        return
    if "$ref" in asked:
        there, within = resolver.lookup(asked["$ref"]), (*within, asked["$ref"])
        yield from _encoded(there.contents, there.resolver, at, within)
    before = f"{at}." if at else ""
    inside = [(f"{before}{name}", each) for name, each in asked.get("properties", {}).items()]
    inside += [(f"{at}[]", asked.get("items")), (f"{before}*", asked.get("additionalProperties"))]
    inside += [(at, each) for each in asked.get("oneOf", ())]
    for place, each in inside:
        if place.endswith("_b64"):
            yield place
        else:
            yield from _encoded(each, resolver, place, within)


def kinds() -> list[str]:
    each = schema.documents()["envelope"]["$defs"]["kind"]["oneOf"]
    return table(["kind", "when"], [row(f"`{one['const']}`", one["description"]) for one in each])


def _title(op: str) -> str:
    """Return the description of an operation from the title of its schema, which is `OPERATION:
    description`."""
    return str(schema.documents()[op]["title"]).removeprefix(f"{op}: ")
