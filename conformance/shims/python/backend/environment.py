"""The environment of a program in the sandbox."""

from __future__ import annotations

from exec.spawn import caller_environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from exec.request import Request

    Pairs = list[tuple[bytes, bytes]]

KEPT = frozenset(b"PATH HOME USER LOGNAME SHELL TMPDIR TZ LANG LANGUAGE".split())
CATEGORIES = frozenset(
    b"ALL ADDRESS COLLATE CTYPE IDENTIFICATION MEASUREMENT MESSAGES MONETARY NAME NUMERIC PAPER"
    b" TELEPHONE TIME".split()
)


def is_kept(name: bytes) -> bool:
    return name in KEPT or (name.startswith(b"LC_") and name[3:] in CATEGORIES)


def base(request: Request) -> Pairs:
    """Return the environment before the backend adds its variables."""
    if request.env is not None:
        return list(request.env)
    return [(name, value) for name, value in caller_environment().items() if is_kept(name)]


def path_only() -> Pairs:
    """Return the environment of a hermetic run. It contains only PATH."""
    return [(name, value) for name, value in caller_environment().items() if name == b"PATH"]


def complete(request: Request, additions: Pairs) -> Pairs:
    """Append the additional variables. If a name occurs twice, the last pair counts."""
    return [*base(request), *additions]
