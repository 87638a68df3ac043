"""A sandbox for a program that another contract starts, by the field `backend` of a request."""

from __future__ import annotations

import os

from backend.context import (
    Context,
    read_accept,
    read_context,
    read_egress,
    read_profile,
    read_rules,
)
from backend.contract import MECHANISMS
from backend.ops import made, take_on_unavailable
from backend.session import Session
from errors import Failed
from reader import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from exec.request import Request
    from kinds import Object


class Around:
    """One session, from `open` to `close`.

    `wrap_request` changes a request so that its program runs in the sandbox.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.opened = False

    def open(self, root: bytes | None = None, readable: Sequence[bytes] = ()) -> None:
        """Open the session.

        root: the workspace, if the context does not name one.
        """
        context = self.session.context
        if root is not None:
            context.root = context.cwd = os.path.realpath(root)
        context.readable = readable
        self.opened = True
        if not self.session.open():
            raise Failed("policy_denied", f"refused by the sandbox: {self.session.why}")

    def wrap_request(self, request: Request) -> None:
        self.session.wrap_request(request)

    def close(self) -> None:
        self.session.close()

    def enforcement(self) -> Object:
        if not self.opened:
            return {}
        claims = self.session.claims
        reasons = claims.reasons() if claims is not None else []
        if self.session.why is not None:
            reasons = [*reasons, self.session.why]
        return {"enforcement": self.session.enforcement, "enforcement_reasons": reasons}


def take_around(reader: Reader, own_root: bool = False) -> Around | None:
    """Read the sandbox of a request; return None if the request has no sandbox.

    own_root: True if the operation makes the workspace itself, so that the context has no root.
    """
    value = reader.take("backend", dict)
    if value is None:
        return None
    inner = Reader(value, f"{reader.pointer}/backend")
    name = inner.need("name", str)
    if name not in MECHANISMS:
        inner.wrong("name", f"must be one of {', '.join(MECHANISMS)}")
    given = inner.need("context", dict)
    pointer = f"{inner.pointer}/context"
    context = read_context_without_root(given, pointer) if own_root else read_context(given)
    on_unavailable = take_on_unavailable(inner)
    inner.done()
    return Around(Session(made(name), context, on_unavailable))


def read_context_without_root(value: object, pointer: str) -> Context:
    reader = Reader(value, pointer)
    context = Context()
    context.profile = read_profile(reader)
    context.rules = read_rules(reader)
    context.egress = read_egress(reader, context.profile)
    context.strict_metadata = reader.take("strict_metadata", bool) or False
    context.accepts_late_names = read_accept(reader)
    reader.done()
    return context
