"""The operation of the contract module: decode a request, and return a value or an error."""

from __future__ import annotations

from module.execution import Execution, Failure
from reader import Reader, one

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kinds import Object, Shim


def execute(shim: Shim, reader: Reader) -> Object:
    execution = read(reader)
    shim.hold = reader.take("hold", str)
    reader.done()
    if execution.enabled and shim.serving:
        reader.wrong("enabled", "is for run mode: the child would eat the protocol")
    try:
        answer: Object = {"value": execution.value()}
    except Failure as failure:
        answer = {"error": failure.as_json(execution.module_id)}
    finally:
        if execution.around is not None:
            execution.around.close()
    if execution.around is not None:
        answer |= execution.around.enforcement()
    if execution.left:
        answer["directory_left"] = execution.left
    return {"result": answer}


def read(reader: Reader) -> Execution:
    execution = Execution()
    execution.module_id = reader.need("module_id", str)
    reader.require("input")
    execution.input = reader.fields.pop("input")
    enabled = reader.take("enabled", bool)
    execution.enabled = enabled is None or enabled
    execution.timeout_ms = reader.take_integer("timeout_ms") or 0
    execution.given_root = reader.take_encoded("extensions_root", one)
    if "backend" in reader.fields:
        from backend.around import take_around

        execution.around = take_around(reader, own_root=True)
    return execution
