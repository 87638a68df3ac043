"""The declaration of the contract backend in the Python implementation."""

from __future__ import annotations

from contract import Contract

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kinds import Object

# The first one is the strongest. It is used for runs that name no backend.
MECHANISMS = {
    "bubblewrap+seccomp": "namespaces+seccomp",
    "bubblewrap": "namespaces",
    "landlock+seccomp": "landlock+seccomp",
    "landlock": "landlock",
    "none": "none",
}


def capabilities() -> list[str]:
    return [
        "backend",
        "backend.policy",
        "backend.scan",
        "backend.script",
        "backend.accept",
        "backend.strict_metadata",
    ]


def hello() -> Object:
    return {"backends": {name: {"mechanism": each} for name, each in MECHANISMS.items()}}


CONTRACT = Contract(
    operations={"backend.probe": "ops:probe", "backend.run": "ops:run"},
    capabilities=capabilities,
    needs=("exec", "policy"),
    hello=hello,
)
