"""What a request of the contract says."""

from reader import Reader, one, pairs, several


class Request:
    program: bytes
    args: list
    current_dir: bytes | None
    timeout_ms: int | None
    stdin: str | bytes  # "inherit", "null" or the payload
    env: list | None  # pairs, or None for the caller's
    debug: bool
    max_output_bytes: int | None
    stdin_failure: str


def read_request(value, pointer="/request"):
    reader = Reader(value, pointer)
    request = Request()
    request.program = reader.take_twin("program", one, required=True)
    request.args = reader.take_twin("args", several, [])
    request.current_dir = reader.take_twin("current_dir", one)
    request.timeout_ms = reader.take_integer("timeout_ms")
    request.stdin = read_stdin(reader)
    request.env = read_env(reader)
    request.debug = reader.take("debug", bool, False)
    request.max_output_bytes = reader.take_integer("max_output_bytes")
    request.stdin_failure = reader.take_choice("stdin_failure", ("error", "ignore"))
    reader.done()
    return request


def read_stdin(reader):
    if isinstance(reader.fields.get("stdin"), dict):
        inner = Reader(reader.fields.pop("stdin"), f"{reader.pointer}/stdin")
        payload = inner.take_twin("bytes", one, required=True)
        inner.done()
        return payload
    return reader.take_choice("stdin", ("inherit", "null"))


def read_env(reader):
    if isinstance(reader.fields.get("env"), dict):
        inner = Reader(reader.fields.pop("env"), f"{reader.pointer}/env")
        given = inner.take_twin("clear_and_set", pairs, required=True)
        inner.done()
        return given
    reader.take_choice("env", ("inherit",))
    return None


def read_sandbox(reader):
    """The words of a refusing sandbox, or None."""
    if "sandbox" not in reader.fields:
        return None
    inner = Reader(reader.fields.pop("sandbox"), f"{reader.pointer}/sandbox")
    refusal = inner.take("refuse", str, required=True)
    inner.done()
    return refusal
