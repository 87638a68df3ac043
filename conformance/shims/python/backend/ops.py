"""The operations of the contract backend: decode a request, and return an answer."""

from __future__ import annotations

from backend.claims import requested
from backend.context import (
    inside,
    read_accept,
    read_context,
    read_egress,
    read_profile,
    read_rules,
)
from backend.contract import MECHANISMS
from errors import Failed
from exec.request import read_request
from reader import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from backend.context import Context
    from exec.request import Request
    from kinds import Object, Shim


def probe(shim: Shim, reader: Reader) -> Object:
    refuse_serving(shim, "backend.probe")
    backend = take_backend(reader)
    profile = read_profile(reader)
    given = read_rules(reader)
    egress = read_egress(reader, profile)
    backend.strict_metadata = reader.take("strict_metadata", bool) or False
    backend.accepts_late_names = read_accept(reader)
    reader.done()
    claims = backend.probe(profile, given, egress)
    return {"result": claims.as_json(requested(profile, egress, bool(given and given.deny_read)))}


def run(shim: Shim, reader: Reader) -> Object:
    from backend.session import Session

    refuse_serving(shim, "backend.run")
    backend = take_backend(reader)
    context = read_context(reader.need("context", dict))
    on_unavailable = take_on_unavailable(reader)
    given = reader.need("calls", list)
    calls = [read_call(each, f"/calls/{i}", context) for i, each in enumerate(given)]
    shim.hold = reader.take("hold", str)
    reader.done()
    return {"result": Session(backend, context, on_unavailable).run(calls)}


def take_on_unavailable(reader: Reader) -> str:
    return reader.take_choice("on_unavailable", ("refuse", "degrade"))


def refuse_serving(shim: Shim, op: str) -> None:
    if shim.serving:
        raise Failed("invalid_input", f"{op} is not served: its child would eat the protocol")


def take_backend(reader: Reader) -> Any:
    name = reader.need("backend", str)
    if "script" in reader.fields:
        from backend.script import Script

        if name != "script":
            reader.wrong("script", "is for the backend `script`")
        return Script(reader.fields.pop("script"))
    if name not in MECHANISMS:
        reader.wrong("backend", f"must be one of {', '.join(MECHANISMS)}")
    return made(name)


def made(name: str) -> Any:
    kind, _, more = name.partition("+")
    if kind == "bubblewrap":
        from backend.bubblewrap import Bubblewrap

        return Bubblewrap(filters=more == "seccomp")
    if kind == "landlock":
        from backend.landlock import Landlock

        return Landlock(filters=more == "seccomp")
    from backend.nothing import NoBackend

    return NoBackend()


def read_call(value: object, pointer: str, context: Context) -> Request:
    reader = Reader(value, pointer)
    request = read_request(reader.need("request", dict), f"{pointer}/request")
    reader.done()
    if request.current_dir is not None:
        real = inside(
            Reader({}, f"{pointer}/request"), "current_dir", request.current_dir, context.root
        )
        if context.names_cwd and context.cwd != real:
            raise Failed("invalid_input", f"{pointer}/request/current_dir is not the cwd")
        request.current_dir = real
    return request
