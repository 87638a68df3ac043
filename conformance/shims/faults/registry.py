"""Declare faults: a fault is a function that changes the implementation, with a description."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Install = Callable[[], None]
    F = TypeVar("F", bound=Callable[..., Any])

FAULTS: dict[str, Fault] = {}


class Fault:
    def __init__(
        self,
        name: str,
        contract: str,
        requirement: str | None,
        mistake: str,
        seen: str,
        role: str,
        install: Install,
    ) -> None:
        self.name = name
        self.contract = contract
        self.requirement = requirement
        self.mistake = mistake
        self.seen = seen
        self.role = role
        self.install = install

    def as_json(self) -> dict[str, str | None]:
        return {
            "id": self.name,
            "contract": self.contract,
            "requirement": self.requirement,
            "role": self.role,
            "mistake": self.mistake,
            "seen": self.seen,
        }


def fault(
    requirement: str | None, mistake: str, seen: str = "general knowledge", role: str = "fault"
) -> Callable[[Install], Install]:
    """Declare a fault. Its contract is the folder that contains the file of the function.

    The id is exec-kill.NAME for a function NAME and EXEC-KILL-02. A fault without a requirement has
    a role, which takes the place of the topic: exec-noop.NAME. A fault that only forced orders find
    has a requirement and the role "order".
    """

    def register(install: Install) -> Install:
        contract = install.__module__.split(".")[1]
        topic = requirement.lower().split("-")[1] if requirement else role
        name = f"{contract}-{topic}.{install.__name__.replace('_', '-')}"
        FAULTS[name] = Fault(name, contract, requirement, mistake, seen, role, install)
        return install

    return register


def replaces(owner: object, name: str | None = None) -> Callable[[F], F]:
    """Replace a function of owner. The replacement gets the original as its first argument.

    Raise TypeError if the two take different arguments. The suite would catch a fault that crashes,
    but not for the reason that the fault declares.
    """

    def install(function: F) -> F:
        target = name or function.__name__
        original = getattr(owner, target)
        if not takes_the_same(original, function):
            raise TypeError(f"{target}: takes other arguments than the original: give it the same")

        def replacement(*arguments: Any, **named: Any) -> Any:
            return function(original, *arguments, **named)

        setattr(owner, target, replacement)
        return function

    return install


class changed:
    """Change attributes of an object for the duration of a `with` statement.

    contextlib is not used, because importing it takes longer than a fault takes to start.
    """

    def __init__(self, owner: object, **values: object) -> None:
        self.owner = owner
        self.values = values
        self.before = {name: getattr(owner, name) for name in values}

    def __enter__(self) -> None:
        self.assign(self.values)

    def __exit__(self, *failure: object) -> None:
        self.assign(self.before)

    def assign(self, values: dict[str, object]) -> None:
        for name, value in values.items():
            setattr(self.owner, name, value)


VARARGS = 0x04


def takes_the_same(original: Any, function: Any) -> bool:
    """True if both take the same number of positional arguments, apart from `original`.

    Only Python functions are compared. The module inspect is not used, because importing it takes
    longer than a fault takes to start.
    """
    theirs, own = (getattr(each, "__code__", None) for each in (original, function))
    if theirs is None or own is None or (theirs.co_flags | own.co_flags) & VARARGS:
        return True
    return bool(own.co_argcount - 1 == theirs.co_argcount)
