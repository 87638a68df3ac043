"""The operations of a shim for an adapter: decode a request, and return an answer."""

from __future__ import annotations

import os

from backend.context import read_context, read_egress, read_profile, read_rules
from backend.ops import read_call, refuse_serving, take_on_unavailable
from errors import Failed, Unsupported
from products.adapter import Missing
from products.backend import ProductBackend, ProductSession, workplace
from protocol import LONGEST_LINE, Shim, bye
from reader import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kinds import Object
    from products.adapter import Adapter


class ProductShim(Shim):
    """A shim that has the contract backend and one backend."""

    adapter: Adapter

    def __init__(self, serving: bool) -> None:
        self.serving = serving
        self.hold: str | None = None
        self.temporary: list[bytes] = []

    def perform(self, message: Object) -> Object:
        reader = Reader(message, "")
        reader.take("id", str)
        op = reader.need("op", str)
        if op == "bye":
            return bye(self, reader)
        if op not in OPERATIONS:
            raise Unsupported(op, "not an operation of this shim")
        if self.serving and "hold" in reader.fields:
            reader.wrong("hold", "is for run mode: in serve nothing may wait")
        return {"result": OPERATIONS[op](self, reader)}


def hello(shim: ProductShim, reader: Reader) -> Object:
    protocol = reader.take_integer("protocol")
    nonce = reader.take("nonce", str) or ""
    reader.done()
    if protocol not in (None, 1):
        raise Failed("invalid_input", "protocol must be 1")
    adapter = shim.adapter
    return {
        "protocol": 1,
        "nonce": nonce,
        "pid": os.getpid(),
        "implementation": {
            "name": adapter.name,
            "version": version(adapter) or "not installed",
            "homepage": adapter.homepage,
            **({"control": True} if adapter.control else {}),
        },
        "spec_version": "1.0",
        "capabilities": ["backend", *(["backend.policy"] if adapter.denies else [])],
        "limits": {"max_line_bytes": LONGEST_LINE},
        "backends": {adapter.name: {"mechanism": adapter.mechanism, "lacks": [*adapter.lacks]}},
    }


def version(adapter: Adapter) -> str | None:
    """Return the version, or None if the product is not installed."""
    try:
        return adapter.version()
    except (Missing, OSError):
        return None


def probe(shim: ProductShim, reader: Reader) -> Object:
    refuse_serving(shim, "backend.probe")
    take_name(shim, reader)
    profile = read_profile(reader)
    refuse_policy(shim, reader.fields)
    rules = read_rules(reader)
    egress = read_egress(reader, profile)
    reader.done()
    import tempfile

    from backend.claims import requested

    with tempfile.TemporaryDirectory(dir=workplace()) as root:
        made = ProductBackend(shim.adapter, os.path.realpath(root)).probe(profile, rules, egress)
    return made.as_json(requested(profile, egress, bool(rules and rules.deny_read)))


def run(shim: ProductShim, reader: Reader) -> Object:
    refuse_serving(shim, "backend.run")
    if "script" in reader.fields:
        raise Unsupported("backend.script", "an adapter has a product, but no script")
    take_name(shim, reader)
    given = reader.need("context", dict)
    refuse_policy(shim, given)
    context = read_context(given)
    on_unavailable = take_on_unavailable(reader)
    calls = [
        read_call(each, f"/calls/{i}", context) for i, each in enumerate(reader.need("calls", list))
    ]
    shim.hold = reader.take("hold", str)
    reader.done()
    backend = ProductBackend(shim.adapter, os.fsdecode(context.root))
    return ProductSession(backend, context, on_unavailable).run(calls)


def refuse_policy(shim: ProductShim, fields: Object) -> None:
    if "policy" in fields and not shim.adapter.denies:
        raise Unsupported("backend.policy", "the adapter passes on profiles, but no policies")


OPERATIONS = {"hello": hello, "backend.probe": probe, "backend.run": run}


def take_name(shim: ProductShim, reader: Reader) -> None:
    if reader.need("backend", str) != shim.adapter.name:
        reader.wrong("backend", f"must be {shim.adapter.name}")
