"""Exceptions that become answers of the protocol, and texts for system errors."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kinds import Object


class Failed(Exception):
    def __init__(self, kind: str, message: str, problems: list[Object] | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.problems = problems

    def as_json(self) -> Object:
        error: Object = {"kind": self.kind, "message": self.message}
        if self.problems:
            error["problems"] = self.problems
        return {"error": error}


class Unsupported(Exception):
    """Raised if a request needs a capability that this implementation does not declare."""

    def __init__(self, capability: str, why: str) -> None:
        super().__init__(why)
        self.capability = capability
        self.why = why

    def as_json(self) -> Object:
        return {"unsupported": {"capability": self.capability, "why": self.why}}


def reason_of(error: OSError) -> str:
    return os.strerror(error.errno or 0)
