"""Find the contracts: each is a folder next to this file with a contract.py.

If a folder is removed, this implementation lacks that contract, and every contract that needs it.
The code of an operation is imported when the operation is first requested. So a run of one contract
starts as fast as if there were no other contracts.
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
    """The declaration of a contract: CONTRACT in its contract.py.

    operations: each operation with its `module:function` in the folder. The function gets the shim
        and the reader of the request, and returns the answer.
    capabilities: a function that returns the list of capabilities for hello.
    needs: the contracts on which this one is built.
    programs: other programs as which the shim can act, by the first word of its command line, each
        with its `module:function` in the folder. The function gets the words after the first one,
        and returns the exit status.
    hello: a function that returns further fields for the answer to hello.
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
    """Return the names of all contract folders, including contracts whose needs are not met."""
    return [
        name
        for name in sorted(os.listdir(HERE))
        if os.path.exists(os.path.join(HERE, name, "contract.py"))
    ]


def every() -> dict[str, Contract]:
    """Return the declarations of all contracts whose needs are met, by name."""
    found = {name: import_module(f"{name}.contract").CONTRACT for name in names()}
    while lacking := [name for name in found if not found.keys() >= {*found[name].needs}]:
        for name in lacking:
            del found[name]
    return found


def operation(found: dict[str, Contract], op: str) -> Operation | None:
    """Return the function that performs an operation, or None if no contract has it."""
    for name, contract in found.items():
        if op in contract.operations:
            module, _, function = contract.operations[op].partition(":")
            function_of_op: Operation = getattr(import_module(f"{name}.{module}"), function)
            return function_of_op
    return None


def program(word: str) -> Program | None:
    """Return the program that this first word selects, or None."""
    for name, contract in every().items():
        if word in contract.programs:
            module, _, function = contract.programs[word].partition(":")
            main_of_program: Program = getattr(import_module(f"{name}.{module}"), function)
            return main_of_program
    return None
