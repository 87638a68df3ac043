"""What a contract tells the core about itself, and how the core finds it.

A contract is a folder of conformance/contracts with a `contract.py` that defines `CONTRACT`. The
core knows it by this object alone: a folder that is moved away is a contract that is not there.
What a declaration names as `module:name` is imported when it is used: a list of verbs, or of what
a shim declares, needs none of it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from boxspec.errors import UsageError
from boxspec.places import CONTRACTS

if TYPE_CHECKING:
    from boxspec.subject.case import Case

Say = Callable[[str], None]
Message = Mapping[str, Any]


def _named(place: str) -> Any:
    """What `module:name` stands for; imported when it is asked for."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


@dataclass(frozen=True)
class Verb:
    """A verb of the command line that belongs to a contract.

    main: `module:function`; it gets the words after the verb and returns the exit status.
    stands_for: the words of another verb that this one is short for, in place of `main`.
    """

    name: str
    about: str
    main: str = ""
    stands_for: tuple[str, ...] = ()

    def run(self, words: Sequence[str]) -> int:
        return int(_named(self.main)(words))


@dataclass(frozen=True)
class Fuzzing:
    """What fuzzing needs of a contract: first inputs, and vectors out of what was found.

    seeds: the name of a target to a maker of its first inputs.
    vectors_of: a case {op, request} to the fields of the vectors that it stands for; with the
    answer of one that is accused those that it fails, if it fails any.
    ids: the ids of all vectors that the tree has.
    """

    seeds: Mapping[str, Callable[[], Iterable[bytes]]]
    vectors_of: Callable[[Message, Message | None], Iterator[dict[str, Any]]]
    ids: Callable[[], Iterable[str]]


@dataclass(frozen=True)
class Contract:
    """The one declaration of a contract.

    name: the name of its folder, the first word of its requirements' ids, its main capability.
    operations: each operation with the capability that it needs.
    capabilities: each capability with what a shim promises by it.
    run_only: operations that start programs, and are refused in serve.
    alone: capabilities that may be declared without the contract itself.
    case: `module:name` of the class of its cases, a subclass of `Case` with its client.
    trust: `module:function` with the questions before a score; it gets a case and who is told what
    was seen, and raises NotConforming.
    verbs: verbs of the command line.
    fault_scope: what its faults are tried with unless --scope says otherwise.
    fault_lanes: how many runs of its faults go at once unless -j says otherwise; of those that ask
    more than their own topic, no more than keep the processors busy.
    preload: modules that each run of a fault would import, for the process they are forked from.
    fuzzing: `module:name` of a Fuzzing object, for a contract that has fuzz targets.
    products: `module:name` of a class that asks, shows and compares products of the contract
    (boxspec/products/view.py); empty if requirements by topic are enough.
    features: what its tests may miss on a host (HostLacks), each with the `module:function` that
    says why it is missing, or None.
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
    products: str = ""
    features: Mapping[str, str] = field(default_factory=dict)

    def case_class(self) -> type[Case]:
        """Return the class of the cases of the contract."""
        found: type[Case] = _named(self.case)
        return found

    def ask_trust(self, case: Any, say: Say) -> None:
        """NotConforming where it cannot be trusted."""
        _named(self.trust)(case, say)

    def load_fuzzing(self) -> Fuzzing:
        found: Fuzzing = _named(self.fuzzing)
        return found

    def view(self) -> Any:
        """Return the object that asks, shows and compares products of the contract."""
        return _named(self.products)()

    def missing(self, feature: str) -> str | None:
        """Why this host lacks a feature, if it does."""
        why: str | None = _named(self.features[feature])()
        return why


@cache
def names() -> tuple[str, ...]:
    """The contracts whose folders are there."""
    return tuple(sorted(path.parent.name for path in CONTRACTS.glob("*/contract.py")))


@cache
def find(name: str) -> Contract:
    """The declaration of a contract; imports its folder's `contract.py`."""
    if name not in names():
        raise UsageError(name, "no such contract", f"known: {', '.join(names())}")
    found: Contract = importlib.import_module(f"contracts.{name}.contract").CONTRACT
    return found


def every() -> list[Contract]:
    return [find(name) for name in names()]


def spoken(capabilities: Iterable[str]) -> list[str]:
    """The contracts of which a shim declares something: them, or a part that stands alone."""
    declared = set(capabilities)
    return [each.name for each in every() if declared & {each.name, *each.alone}]


def owner(op: str) -> Contract | None:
    """The contract that an operation belongs to; None for one of the protocol itself."""
    return next((contract for contract in every() if op in contract.operations), None)
