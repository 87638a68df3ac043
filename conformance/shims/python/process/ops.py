"""The operations of the contract process: decode a request and return an answer."""

from __future__ import annotations

from errors import Failed
from exec.request import read_request
from process.bridge import Bridge
from process.script import STREAMS, Handle, Script, Step
from reader import Reader, one

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backend.around import Around
    from kinds import Object, Shim

STEPS = (
    *("open", "streams", "take", "write", "read_until", "read_eof", "close_stdin", "poll", "wait"),
    *("terminate", "kill", "close", "drop", "join", "repeat"),
)


def script(shim: Shim, reader: Reader) -> Object:
    refuse_serving(shim)
    handles = {
        name: read_handle(Reader(value, f"/handles/{name}"))
        for name, value in reader.need("handles", dict).items()
    }
    steps = [
        read_step(Reader(value, f"/steps/{i}"), handles)
        for i, value in enumerate(reader.need("steps", list))
    ]
    around = take_around(reader)
    shim.hold = reader.take("hold", str)
    reader.done()
    try:
        held = go_inside(around)
        for each in handles.values():
            each.around = around
        return {"result": {"steps": Script(handles, steps).run(), **held}}
    finally:
        leave(around)


def read_handle(reader: Reader) -> Handle:
    request = read_request(reader.need("request", dict), f"{reader.pointer}/request")
    modes = []
    for name in STREAMS:
        mode = reader.take_integer(name)
        modes.append(1 if mode is None else mode)
    nonblocking = reader.take("nonblocking", bool) or False
    reader.done()
    return Handle(request, modes, nonblocking)


def read_step(reader: Reader, handles: dict[str, Handle]) -> Step:
    step = Step()
    step.kind = reader.need("step", str)
    if step.kind not in STEPS:
        reader.wrong("step", "is not a step")
    if step.kind == "repeat":
        return read_repeat(reader, step, handles)
    name = reader.take("handle", str)
    if step.kind != "join" and name not in handles:
        reader.wrong("handle", "is not a name in /handles")
    step.handle = handles.get(name or "")
    step.thread = reader.take("thread", str)
    stream = reader.take("stream", str) or "stdin"
    if stream not in STREAMS:
        reader.wrong("stream", "is not a stream")
    step.stream = STREAMS.index(stream)
    step.data = reader.take_encoded("data" if step.kind == "write" else "until", one) or b""
    step.ms = reader.take_integer("grace_ms" if step.kind == "close" else "timeout_ms")
    reader.done()
    return step


def read_repeat(reader: Reader, step: Step, handles: dict[str, Handle]) -> Step:
    count = reader.take_integer("count")
    if count is None:
        reader.wrong("count", "is missing")
    step.count = count
    step.handle = None
    step.thread = reader.take("thread", str)
    step.inner = [
        read_step(Reader(value, f"{reader.pointer}/steps/{i}"), handles)
        for i, value in enumerate(reader.need("steps", list))
    ]
    for i, inner in enumerate(step.inner):
        if inner.kind in ("join", "repeat") or inner.thread is not None:
            reader.wrong(f"steps/{i}", "is a join, a repeat or on a thread")
    reader.done()
    return step


def bridge(shim: Shim, reader: Reader) -> Object:
    refuse_serving(shim)
    request = read_request(reader.need("request", dict))
    around = take_around(reader)
    shim.hold = reader.take("hold", str)
    reader.done()
    try:
        held = go_inside(around)
        if around is not None:
            around.wrap_request(request)
        return {"result": {**Bridge(request).run(), **held}}
    finally:
        leave(around)


def take_around(reader: Reader) -> Around | None:
    """Return the sandbox of a request, or None.

    The backend is imported only for a request with a sandbox.
    """
    if "backend" not in reader.fields:
        return None
    from backend.around import take_around as take_of_backend

    return take_of_backend(reader)


def go_inside(around: Around | None) -> Object:
    """Open the sandbox. Return fields of the answer that say how much the sandbox enforces."""
    if around is None:
        return {}
    around.open()
    return around.enforcement()


def leave(around: Around | None) -> None:
    if around is not None:
        around.close()


def refuse_serving(shim: Shim) -> None:
    if shim.serving:
        raise Failed("invalid_input", "processes are not served: a child would eat the protocol")
