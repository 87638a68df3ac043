"""The contracts that are here: each folder beside this file with a contract.py.

A folder that is moved away is a contract that the twin does not have, and so are those that need
it. The work is in other modules of the folder, imported when it is asked for: a run of one contract
should start as fast as without the others.
"""

from __future__ import annotations

import os
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kinds import Object, Shim
    from reader import Reader

    Program = Callable[[list[str]], int]
    Operation = Callable[[Shim, Reader], Object]

HERE = os.path.dirname(os.path.abspath(__file__))


class Contract:
    """The one declaration of a contract: CONTRACT in its contract.py.

    operations: each operation with its `module:function` in the folder; the function gets the
    shim and the reader of the request and returns the answer.
    capabilities: called by hello.
    needs: the contracts that this one is built on.
    programs: what the shim is beside a shim, by its first word: `module:function` in the folder; it
    gets the words behind that one and returns the exit status.
    hello: what hello says of it besides.
    """

    def __init__(
        self,
        operations: dict[str, str],
        capabilities: Callable[[], list[str]],
        needs: tuple[str, ...] = (),
        programs: dict[str, str] | None = None,
        hello: Callable[[], Object] = dict,
    ) -> None:
        self.operations = operations
        self.capabilities = capabilities
        self.needs = needs
        self.programs = programs or {}
        self.hello = hello


def names() -> list[str]:
    """The folders of contracts, whether or not what they need is there."""
    return [
        name
        for name in sorted(os.listdir(HERE))
        if os.path.exists(os.path.join(HERE, name, "contract.py"))
    ]


def every() -> dict[str, Contract]:
    """The declarations of all contracts whose needs are met, by name."""
    found = {name: import_module(f"{name}.contract").CONTRACT for name in names()}
    while lacking := [name for name in found if not found.keys() >= {*found[name].needs}]:
        for name in lacking:
            del found[name]
    return found


def operation(found: dict[str, Contract], op: str) -> Operation | None:
    """The function behind an operation of the contracts that were found, or None."""
    for name, contract in found.items():
        if op in contract.operations:
            module, _, function = contract.operations[op].partition(":")
            behind: Operation = getattr(import_module(f"{name}.{module}"), function)
            return behind
    return None


def program(word: str) -> Program | None:
    """What a first word makes of the shim, or None."""
    for name, contract in every().items():
        if word in contract.programs:
            module, _, function = contract.programs[word].partition(":")
            behind: Program = getattr(import_module(f"{name}.{module}"), function)
            return behind
    return None
