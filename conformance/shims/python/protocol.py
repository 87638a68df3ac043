"""The shim protocol: objects in, objects out, over files (run) or lines (serve)."""

import _json  # json.py imports re and enum, which cost as much time as all the rest
import os
import sys

import group
import run
import signals
from batch import Batch
from errors import Failed
from redact import format_env
from request import Reader, read_env, read_request, read_sandbox

CAPABILITIES = [
    "exec",
    "exec.concurrent",
    "exec.debug",
    "exec.cap",
    "exec.stdin_failure",
    "exec.termination",
    "exec.sandbox",
    "glob",
    "policy",
    "policy.fold",
    "policy.resolved",
    "policy.explain",
    "policy.audit",
    "sbpl",
    "sbpl.fold",
    "sbpl.wrap",
]
LONGEST_LINE = 16 * 1024 * 1024


class Format:
    """What the C scanner of json asks for."""

    strict = True
    object_hook = None
    parse_float = float
    parse_int = int

    @staticmethod
    def object_pairs_hook(members):
        found = dict(members)
        if len(found) != len(members):
            raise ValueError("a member is given twice")
        return found

    @staticmethod
    def parse_constant(name):
        raise ValueError(f"{name} is not JSON")


scan = _json.make_scanner(Format)


def parse(data):
    try:
        text = data.decode().strip(" \t\r\n")
        value, end = scan(text, 0)
        if end != len(text):
            raise ValueError("more than one value")
    except StopIteration:
        raise Failed("invalid_input", "not JSON") from None
    except (ValueError, RecursionError) as e:
        raise Failed("invalid_input", f"not JSON: {e}") from None
    if not isinstance(value, dict):
        raise Failed("invalid_input", "not a JSON object")
    return value


def dump(value):
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return _json.encode_basestring_ascii(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{dump(k)}: {dump(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(dump, value)) + "]"
    return str(value)


class Shim:
    name = "boxspec-twin"

    def __init__(self, caller_mask):
        self.caller_mask = caller_mask
        self.hold = None
        self.temporary = []  # files that end with the request

    def answer(self, data, serving):
        """The whole answer to one request, as a dict."""
        key = None
        try:
            message = parse(data)
            key = message.get("id")
            if not isinstance(key, str):
                key = None
                raise Failed("invalid_input", "/id must be a string")
            return {"id": key, **self.perform(message, serving)}
        except Failed as failure:
            return {"id": key, **failure.as_json()}

    def perform(self, message, serving):
        reader = Reader(message, "")
        reader.take("id", str)
        op = reader.take("op", str, required=True)
        operation = self.operations.get(op) or pure_operation(op)
        if operation is None:
            return {"unsupported": {"capability": op, "why": "not an operation of this shim"}}
        if serving and op in ("exec.run", "exec.batch"):
            raise Failed("invalid_input", f"{op} is not served: its child would eat the protocol")
        if serving and "hold" in reader.fields:
            reader.wrong("hold", "is for run mode: here nothing may wait")
        return operation(self, reader)

    def hello(self, reader):
        protocol = reader.take_integer("protocol", 1)
        nonce = reader.take("nonce", str, "")
        reader.done()
        if protocol != 1:
            raise Failed("invalid_input", "protocol must be 1")
        return {
            "result": {
                "protocol": 1,
                "nonce": nonce,
                "pid": os.getpid(),
                "implementation": {
                    "name": self.name,
                    "version": "1.0",
                    "language": "Python",
                    "homepage": "https://example.org/boxspec",
                },
                "spec_version": "1.0",
                "capabilities": capabilities(),
                "limits": {"max_line_bytes": LONGEST_LINE},
                "constants": {
                    "grace_ms": run.GRACE_NS // 1_000_000,
                    "tick_ms": group.TICK_NS // 1_000_000,
                },
                "backends": {},
            }
        }

    def exec_run(self, reader):
        request = read_request(reader.take("request", dict, required=True))
        refusal = read_sandbox(reader)
        self.hold = reader.take("hold", str)
        reader.done()
        return self.as_json(self.run_all([(0, request, refusal)])[0])

    def exec_batch(self, reader):
        items = []
        for i, entry in enumerate(reader.take("runs", list, required=True)):
            inner = Reader(entry, f"/runs/{i}")
            after_ms = inner.take_integer("after_ms", 0)
            value = inner.take("request", dict, required=True)
            items.append((after_ms, read_request(value, f"/runs/{i}/request"), None))
            inner.done()
        self.hold = reader.take("hold", str)
        reader.done()
        return {"result": {"runs": [self.as_json(a) for a in self.run_all(items)]}}

    def run_all(self, items):
        return Batch(items, self.caller_mask).run()

    def as_json(self, answer):
        return answer.as_json() if isinstance(answer, Failed) else {"result": answer}

    def format_env(self, reader):
        pairs = read_env(reader)
        reader.done()
        return {"result": {"text": format_env(pairs)}}

    def bye(self, reader):
        reader.done()
        return {"result": {}}

    operations = {
        "hello": hello,
        "exec.run": exec_run,
        "exec.batch": exec_batch,
        "exec.format_env": format_env,
        "bye": bye,
    }

    def run(self, request_path, response_path):
        answer = self.answer(read_file(request_path), serving=False)
        try:
            write_file(response_path, dump(answer).encode())
            if self.hold is not None:
                read_file(self.hold)
        finally:
            self.tidy()
        error = answer.get("error")
        if error and error["kind"] == "invalid_input":
            return complain(error["message"])
        return 0

    def tidy(self):
        while self.temporary:
            os.unlink(self.temporary.pop())

    def serve(self):
        pieces = []  # of a line that has not ended; joined once, for it may be long
        length = 0
        while piece := os.read(0, 1 << 20):
            *lines, rest = piece.split(b"\n")
            for line in lines:
                line = b"".join([*pieces, line])
                pieces, length = [], 0
                answer = self.answer(line, serving=True)
                self.tidy()
                write_all(1, dump(answer).encode() + b"\n")
                if is_farewell(line, answer):
                    return 0
            pieces.append(rest)
            length += len(rest)
            if length > LONGEST_LINE:
                return complain("a line is too long")
        return 0


def pure_operation(op):
    """Imported when it is asked for: a run of exec should start as fast as without it."""
    if op.startswith("sbpl."):
        from sbpl.ops import OPERATIONS
    elif op.startswith(("policy.", "path.", "glob.")):
        from policy.ops import OPERATIONS
    else:
        return None
    return OPERATIONS.get(op)


def capabilities():
    from policy.yamltext import available

    return [*CAPABILITIES, "policy.yaml"] if available() else CAPABILITIES


def is_farewell(line, answer):
    return answer.get("result") == {} and parse(line).get("op") == "bye"


def read_file(path):
    fd = os.open(path, os.O_RDONLY)
    pieces = []
    try:
        while piece := os.read(fd, 1 << 20):
            pieces.append(piece)
    finally:
        os.close(fd)
    return b"".join(pieces)


def write_file(path, data):
    """Whoever waits for the file never sees half of it."""
    beside = f"{path}.{os.getpid()}"
    fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        write_all(fd, data)
    finally:
        os.close(fd)
    os.rename(beside, path)


def write_all(fd, data):
    while data:
        data = data[os.write(fd, data) :]


def complain(message):
    try:
        os.write(2, f"boxspec-twin: {message}\n".encode())
    except OSError:
        pass
    return 2


def open_missing_stdio():
    """A pipe that landed on 0, 1 or 2 would be overwritten on its way into the child."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.set_inheritable(os.open("/dev/null", os.O_RDWR), True)


def main(shim=Shim):
    open_missing_stdio()
    mask = signals.caller_mask()
    signals.settle()
    match sys.argv[1:]:
        case ["run", request, response]:
            try:
                return shim(mask).run(request, response)
            except OSError as e:
                return complain(str(e))
        case ["serve"]:
            return shim(mask).serve()
    return complain("usage: shim.py run REQUEST RESPONSE | shim.py serve")
