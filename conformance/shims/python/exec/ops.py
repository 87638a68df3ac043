"""The operations of the contract: requests in, answers out."""

import exec.signals as signals
from errors import Failed
from exec.batch import Batch
from exec.redact import format_env as loggable
from exec.request import read_env, read_request, read_sandbox
from reader import Reader


def run(shim, reader):
    refuse_serving(shim, "exec.run")
    request = read_request(reader.take("request", dict, required=True))
    refusal = read_sandbox(reader)
    shim.hold = reader.take("hold", str)
    reader.done()
    return as_json(run_all([(0, request, refusal)])[0])


def batch(shim, reader):
    refuse_serving(shim, "exec.batch")
    items = []
    for i, entry in enumerate(reader.take("runs", list, required=True)):
        inner = Reader(entry, f"/runs/{i}")
        after_ms = inner.take_integer("after_ms", 0)
        value = inner.take("request", dict, required=True)
        items.append((after_ms, read_request(value, f"/runs/{i}/request"), None))
        inner.done()
    shim.hold = reader.take("hold", str)
    reader.done()
    return {"result": {"runs": [as_json(answer) for answer in run_all(items)]}}


def refuse_serving(shim, op):
    if shim.serving:
        raise Failed("invalid_input", f"{op} is not served: its child would eat the protocol")


def run_all(items):
    return Batch(items, signals.caller_mask()).run()


def as_json(answer):
    return answer.as_json() if isinstance(answer, Failed) else {"result": answer}


def format_env(shim, reader):
    pairs = read_env(reader)
    reader.done()
    return {"result": {"text": loggable(pairs)}}
