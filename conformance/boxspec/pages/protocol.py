"""Make the tables of the protocol page: declarations of the contracts, and kinds of errors."""

from __future__ import annotations

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


def kinds() -> list[str]:
    each = schema.documents()["envelope"]["$defs"]["kind"]["oneOf"]
    return table(["kind", "when"], [row(f"`{one['const']}`", one["description"]) for one in each])


def _title(op: str) -> str:
    """Return the description of an operation from the title of its schema, which is `OPERATION:
    description`."""
    return str(schema.documents()[op]["title"]).removeprefix(f"{op}: ")
