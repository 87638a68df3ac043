"""The shim protocol, over files (run) or over lines (serve)."""

from __future__ import annotations

import os
import sys

import constants
import contract
import startup
from errors import Failed, Unsupported
from files import read_file, write_all, write_file
from jsonwire import dump, parse
from reader import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kinds import Object

LONGEST_LINE = 16 * 1024 * 1024


class Shim:
    name = "boxspec-python"

    def __init__(self, serving: bool) -> None:
        self.serving = serving
        self.contracts = contract.every()
        # in run mode, the shim reads this file to its end before it exits
        self.hold: str | None = None
        self.temporary: list[bytes] = []  # files that are removed when the request ends

    def answer(self, data: bytes) -> Object:
        """Return the complete answer to one request."""
        key = None
        try:
            message = parse(data)
            key = message.get("id")
            if not isinstance(key, str):
                key = None
                raise Failed("invalid_input", "/id must be a string")
            return {"id": key, **self.perform(message)}
        except (Failed, Unsupported) as why:
            return {"id": key, **why.as_json()}

    def perform(self, message: Object) -> Object:
        reader = Reader(message, "")
        reader.take("id", str)
        op = reader.need("op", str)
        operation = OWN.get(op) or contract.operation(self.contracts, op)
        if operation is None:
            raise Unsupported(op, "not an operation of this shim")
        if self.serving and "hold" in reader.fields:
            reader.wrong("hold", "is for run mode: here nothing may wait")
        return operation(self, reader)

    def run(self, request_path: str, response_path: str) -> int:
        answer = self.answer(read_file(request_path))
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

    def tidy(self) -> None:
        while self.temporary:
            os.unlink(self.temporary.pop())

    def serve(self) -> int:
        # the pieces of an incomplete line; they are joined only once, because a line may be long
        pieces: list[bytes] = []
        length = 0
        while piece := os.read(0, 1 << 20):
            *lines, rest = piece.split(b"\n")
            for line in lines:
                line = b"".join([*pieces, line])
                pieces, length = [], 0
                answer = self.answer(line)
                self.tidy()
                write_all(1, dump(answer).encode() + b"\n")
                if is_farewell(line, answer):
                    return 0
            pieces.append(rest)
            length += len(rest)
            if length > LONGEST_LINE:
                return complain("a line is too long")
        return 0


def hello(shim: Shim, reader: Reader) -> Object:
    protocol = reader.take_integer("protocol")
    nonce = reader.take("nonce", str) or ""
    reader.done()
    if protocol not in (None, 1):
        raise Failed("invalid_input", "protocol must be 1")
    return {
        "result": {
            "protocol": 1,
            "nonce": nonce,
            "pid": os.getpid(),
            "implementation": {
                "name": shim.name,
                "version": "1.0",
                "language": "Python",
                "homepage": "https://example.org/boxspec",
            },
            "spec_version": "1.0",
            "capabilities": [
                name for each in shim.contracts.values() for name in each.capabilities()
            ],
            "limits": {"max_line_bytes": LONGEST_LINE},
            "constants": {
                "grace_ms": constants.GRACE_NS // 1_000_000,
                "tick_ms": constants.TICK_NS // 1_000_000,
                "bridge_grace_ms": constants.BRIDGE_GRACE_MS,
            },
            **{
                name: said
                for each in shim.contracts.values()
                for name, said in each.hello().items()
            },
        }
    }


def bye(shim: Shim, reader: Reader) -> Object:
    reader.done()
    return {"result": {}}


OWN = {"hello": hello, "bye": bye}


def is_farewell(line: bytes, answer: Object) -> bool:
    return answer.get("result") == {} and parse(line).get("op") == "bye"


def complain(message: str) -> int:
    try:
        os.write(2, f"boxspec-python: {message}\n".encode())
    except OSError:
        pass
    return 2


def main(make: type[Shim] = Shim) -> int:
    """Start the shim.

    make: the class of the shim. A shim that is built on this one passes another class.
    """
    startup.open_missing_stdio()
    startup.settle_signals()
    match sys.argv[1:]:
        case [word, *words] if word.startswith("--") and (program := contract.program(word)):
            return program(words)
        case ["run", request, response]:
            try:
                return make(serving=False).run(request, response)
            except OSError as e:
                return complain(str(e))
        case ["serve"]:
            return make(serving=True).serve()
    return complain("usage: shim.py run REQUEST RESPONSE | shim.py serve")
