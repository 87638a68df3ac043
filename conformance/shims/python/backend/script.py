"""A backend that behaves as the request says. It is for tests of sessions without a sandbox."""

from __future__ import annotations

import os

from backend.claims import Claims, nothing, requested
from reader import Reader, pairs, several

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from backend.context import Context
    from backend.environment import Pairs
    from backend.rules import Rules


PROBES = ("fully", "partial", "unavailable", "error", "hang")


class Scripted(Exception):
    """Raised for an error that the script requests."""


class Script:
    def __init__(self, value: object) -> None:
        reader = Reader(value, "/script")
        self.answer = reader.take_choice("probe", PROBES)
        self.preparing = reader.take_choice("prepare", ("ok", "error", "hang"))
        self.wrapping = reader.take_choice("wrap", ("ok", "error", "empty"))
        self.ending = reader.take_choice("shutdown", ("ok", "error"))
        place = reader.take("place", str)
        self.place = place.encode() if place is not None else None
        self.prefix = reader.take_encoded("prefix", several) or []
        self.env = reader.take_encoded("env", pairs) or []
        reader.done()

    def hang(self) -> None:
        import _thread

        never = _thread.allocate_lock()
        never.acquire()
        never.acquire()

    def probe(self, profile: str, given: Rules | None, egress: Sequence[str] | None) -> Claims:
        if self.answer == "hang":
            self.hang()
        if self.answer == "error":
            raise Scripted("the probe fails, as it was told to")
        wanted = requested(profile, egress, bool(given and given.deny_read))
        if self.answer == "unavailable":
            return nothing(wanted, "unavailable, as it was told to be")
        made = Claims()
        if self.answer == "partial":
            made.lacks("fs-write", "partial, as it was told to be")
        made.fully(*wanted)
        return made

    def prepare(self, context: Context, claims: Claims) -> None:
        if self.preparing == "hang":
            self.hang()
        if self.place is not None:
            os.mkdir(self.place, 0o700)
        if self.preparing == "error":
            raise Scripted("prepare fails, as it was told to")

    def wrap(
        self, argv: Sequence[bytes], context: Context, cwd: bytes
    ) -> tuple[list[bytes], Pairs]:
        if self.wrapping == "error":
            raise Scripted("wrap fails, as it was told to")
        return ([] if self.wrapping == "empty" else [*self.prefix, *argv]), list(self.env)

    def shutdown(self) -> None:
        if self.place is not None and os.path.isdir(self.place):
            os.rmdir(self.place)
        if self.ending == "error":
            raise Scripted("shutdown fails, as it was told to")
