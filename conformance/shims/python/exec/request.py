"""Read a request of the contract."""

from __future__ import annotations

from reader import Reader, one, pairs, several


class Request:
    program: bytes
    args: list[bytes]
    current_dir: bytes | None
    timeout_ms: int | None
    stdin: str | bytes  # "inherit", "null" or the payload
    stdin_from = 0  # the descriptor that the child inherits as stdin
    env: list[tuple[bytes, bytes]] | None  # None for the caller's environment
    debug: bool
    max_output_bytes: int | None
    stdin_failure: str


# after_ms, the request, and the message of the sandbox if the sandbox refuses the request
Item = tuple[int, Request, "str | None"]


def read_request(value: object, pointer: str = "/request") -> Request:
    reader = Reader(value, pointer)
    request = Request()
    request.program = reader.need_encoded("program", one)
    request.args = reader.take_encoded("args", several) or []
    request.current_dir = reader.take_encoded("current_dir", one)
    request.timeout_ms = reader.take_integer("timeout_ms")
    request.stdin = read_stdin(reader)
    request.env = read_env(reader)
    request.debug = reader.take("debug", bool) or False
    request.max_output_bytes = reader.take_integer("max_output_bytes")
    request.stdin_failure = reader.take_choice("stdin_failure", ("error", "ignore"))
    reader.done()
    return request


def read_stdin(reader: Reader) -> str | bytes:
    if isinstance(reader.fields.get("stdin"), dict):
        inner = Reader(reader.fields.pop("stdin"), f"{reader.pointer}/stdin")
        payload = inner.need_encoded("bytes", one)
        inner.done()
        return payload
    return reader.take_choice("stdin", ("inherit", "null"))


def read_env(reader: Reader) -> list[tuple[bytes, bytes]] | None:
    if isinstance(reader.fields.get("env"), dict):
        inner = Reader(reader.fields.pop("env"), f"{reader.pointer}/env")
        given = inner.need_encoded("clear_and_set", pairs)
        inner.done()
        return given
    reader.take_choice("env", ("inherit",))
    return None


def read_sandbox(reader: Reader) -> str | None:
    """Return the message of a sandbox that refuses the run, or None."""
    if "sandbox" not in reader.fields:
        return None
    inner = Reader(reader.fields.pop("sandbox"), f"{reader.pointer}/sandbox")
    refusal = inner.need("refuse", str)
    inner.done()
    return refusal
