"""The operations of the contract exec: decode a request, and return an answer."""

from __future__ import annotations

import exec.signals as signals
from errors import Failed
from exec.batch import Batch
from exec.redact import format_env as loggable
from exec.request import read_env, read_request, read_sandbox
from reader import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from exec.request import Item
    from kinds import Object, Shim


def run(shim: Shim, reader: Reader) -> Object:
    refuse_serving(shim, "exec.run")
    request = read_request(reader.need("request", dict))
    refusal = read_sandbox(reader)
    shim.hold = reader.take("hold", str)
    reader.done()
    return as_json(run_all([(0, request, refusal)])[0])


def batch(shim: Shim, reader: Reader) -> Object:
    refuse_serving(shim, "exec.batch")
    items = []
    for i, entry in enumerate(reader.need("runs", list)):
        inner = Reader(entry, f"/runs/{i}")
        after_ms = inner.take_integer("after_ms") or 0
        value = inner.need("request", dict)
        items.append((after_ms, read_request(value, f"/runs/{i}/request"), None))
        inner.done()
    shim.hold = reader.take("hold", str)
    reader.done()
    return {"result": {"runs": [as_json(answer) for answer in run_all(items)]}}


def refuse_serving(shim: Shim, op: str) -> None:
    if shim.serving:
        raise Failed("invalid_input", f"{op} is not served: its child would eat the protocol")


def run_all(items: Sequence[Item]) -> list[Object | Failed]:
    return Batch(items, signals.caller_mask()).run()


def as_json(answer: Object | Failed) -> Object:
    return answer.as_json() if isinstance(answer, Failed) else {"result": answer}


def format_env(shim: Shim, reader: Reader) -> Object:
    pairs = read_env(reader)
    reader.done()
    return {"result": {"text": loggable(pairs)}}
