"""The class of contract declarations, and functions to find them.

A contract is a folder of conformance/contracts with a `contract.py` that defines `CONTRACT`. The
core knows a contract only by this object, so a kit without the folder does not have the contract. A
field such as `module:name` is imported only when it is used, because many commands need only the
declaration.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from boxspec.errors import UsageError
from boxspec.places import CONTRACTS

Say = Callable[[str], None]
Message = Mapping[str, Any]


def _import_object(place: str) -> Any:
    """Import the module of a place `module:name` and return the object."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


@dataclass(frozen=True)
class Verb:
    """A verb of the command line that belongs to a contract.

    main: `module:function`, which takes the words after the verb and returns the exit status.
    """

    name: str
    about: str
    main: str

    def run(self, words: Sequence[str]) -> int:
        return int(_import_object(self.main)(words))


@dataclass(frozen=True)
class Fuzzing:
    """The functions of a contract that fuzzing uses.

    seeds: for each fuzz target a function that makes its first inputs.
    vectors_of: a function that makes vectors from a finding {op, request}. With the answer of an
        implementation as well, it returns only the vectors that this answer fails, or all if there
        are none.
    ids: a function that returns the ids of all vectors in the checkout.
    """

    seeds: Mapping[str, Callable[[], Iterable[bytes]]]
    vectors_of: Callable[[Message, Message | None], Iterator[dict[str, Any]]]
    ids: Callable[[], Iterable[str]]


@dataclass(frozen=True)
class Contract:
    """The declaration of a contract.

    name: the name of its folder and its main capability; in capitals, the start of its ids.
    operations: each operation with the capability that it needs.
    capabilities: each capability with its meaning.
    run_only: operations that start programs; serve refuses them.
    alone: capabilities that a shim may declare without the contract itself.
    case: `module:name` of the class of its cases, a subclass of `Case` with its client.
    trust: `module:function` with the checks before a score. It takes a case and a function that
        prints a line, and raises NotConforming.
    verbs: verbs of the command line.
    fault_scope: the default of --scope for its faults.
    fault_lanes: the default of -j for its faults. For runs that test more than one topic, -j is
        also limited by the number of processors.
    preload: modules that each run of a fault needs. They are imported once, before the runs are
        forked.
    fuzzing: `module:name` of a Fuzzing object, for a contract that has fuzz targets.
    orders: `module:name` of an Orders object (orders/explore.py), if events of the contract can be
        forced into orders.
    products: `module:name` of a class that judges, shows and compares products of the contract
        (boxspec/products/view.py); empty if requirements by topic are enough.
    areas: `module:function` that counts the attempts of a run by area (see report/area_table.py);
        empty if the requirements are no attempts.
    explored: `module:name` of a class that runs generated programs (explore/sandbox.py, Backend);
        empty without sandboxes. Its arguments are a session, the name of a backend or None, and a
        profile.
    features: features of a host that its tests need (HostLacks), each with a `module:function` that
        returns why the feature is missing, or None.
    """

    name: str
    operations: Mapping[str, str]
    capabilities: Mapping[str, str]
    case: str
    trust: str
    run_only: frozenset[str] = frozenset()
    alone: frozenset[str] = frozenset()
    verbs: tuple[Verb, ...] = ()
    fault_scope: str = "all"
    fault_lanes: int = 2
    preload: tuple[str, ...] = ()
    fuzzing: str = field(default="")
    orders: str = ""
    products: str = ""
    areas: str = ""
    explored: str = ""
    features: Mapping[str, str] = field(default_factory=dict)

    def case_class(self) -> type[Any]:
        """Return the class of the contract's cases: `Case` of subject/case.py, or a subclass.

        It is imported here and not in declarations, because most code that reads a declaration
        makes no case.
        """
        found: type[Any] = _import_object(self.case)
        return found

    def ask_trust(self, case: Any, say: Say) -> None:
        """Run the checks before a score; raise NotConforming if the shim cannot be scored."""
        _import_object(self.trust)(case, say)

    def load_explored(self) -> Any:
        return _import_object(self.explored)

    def load_fuzzing(self) -> Fuzzing:
        found: Fuzzing = _import_object(self.fuzzing)
        return found

    def load_orders(self) -> Any:
        """Return the Orders object of the contract."""
        return _import_object(self.orders)

    def view(self) -> Any:
        """Return the view of the contract, which judges, shows and compares products."""
        return _import_object(self.products)()

    def area_rows(self, records: Sequence[Any], claims: Mapping[str, str]) -> list[tuple[str, ...]]:
        """Return the head and the rows of the table by area.

        claims: the claim of the shim for each aspect.
        """
        found: list[tuple[str, ...]] = _import_object(self.areas)(records, claims)
        return found

    def missing(self, feature: str) -> str | None:
        """Return the reason why this host lacks a feature, or None."""
        why: str | None = _import_object(self.features[feature])()
        return why


@cache
def names() -> tuple[str, ...]:
    """Return the names of the contracts that have a folder."""
    return tuple(sorted(path.parent.name for path in CONTRACTS.glob("*/contract.py")))


@cache
def find(name: str) -> Contract:
    """Return the declaration of a contract from the `contract.py` in its folder."""
    if name not in names():
        raise UsageError(name, "no such contract", f"known: {', '.join(names())}")
    found: Contract = importlib.import_module(f"contracts.{name}.contract").CONTRACT
    return found


def every() -> list[Contract]:
    return [find(name) for name in names()]


def spoken(capabilities: Iterable[str]) -> list[str]:
    """Return the contracts of which a shim declares at least a part."""
    declared = set(capabilities)
    return [each.name for each in every() if declared & {each.name, *each.alone}]


def owner(op: str) -> Contract | None:
    """Return the contract of an operation, or None for an operation of the protocol itself."""
    return next((contract for contract in every() if op in contract.operations), None)
