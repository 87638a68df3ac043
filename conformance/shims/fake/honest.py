"""A small correct shim. Each fake breaks one part of it."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

Message = dict[str, Any]


def words(holder: Message, name: str) -> list[bytes]:
    """Return a string or a list of strings, or its `_b64` form, as a list of bytes."""
    encoded = name + "_b64"
    value: Any = holder.get(encoded, holder.get(name, []))
    values = value if isinstance(value, list) else [value]
    return [base64.b64decode(v) if encoded in holder else v.encode() for v in values]


def needed(message: Message) -> str | None:
    """Return the capability that a run needs in addition to `exec`."""
    request = message["request"]
    asked = {
        "exec.sandbox": "sandbox" in message,
        "exec.debug": bool(request.get("debug")),
        "exec.cap": "max_output_bytes" in request,
        "exec.stdin_failure": request.get("stdin_failure") == "ignore",
    }
    return next((name for name, wanted in asked.items() if wanted), None)


class Honest:
    capabilities: tuple[str, ...] = ("exec", "exec.bytes")

    def hello(self, message: Message) -> Message:
        return {
            "protocol": 1,
            "nonce": message["nonce"],
            "pid": os.getpid(),
            "implementation": {
                "name": "fake",
                "version": "1",
                "language": "Python",
                "homepage": "https://example.org/fake",
            },
            "spec_version": "1.0",
            "capabilities": list(self.capabilities),
            "limits": {"max_line_bytes": 16777216},
            "constants": {"grace_ms": 5000, "tick_ms": 100},
            "backends": {},
        }

    def needed(self, message: Message) -> str | None:
        return needed(message)

    def execute(self, request: Message) -> Message:
        stdin = request.get("stdin", "inherit")
        given: dict[str, Any] = {"stdin": subprocess.DEVNULL if stdin == "null" else None}
        if isinstance(stdin, dict):
            given = {"input": words(stdin, "bytes")[0]}
        if "timeout_ms" in request:
            given["timeout"] = min(request["timeout_ms"], 10**9) / 1000
        env = request.get("env", "inherit")
        if isinstance(env, dict):
            is_encoded = "clear_and_set_b64" in env
            pairs = env["clear_and_set_b64" if is_encoded else "clear_and_set"]
            decode = base64.b64decode if is_encoded else str.encode
            given["env"] = {decode(key): decode(value) for key, value in pairs}
        folder = words(request, "current_dir")
        started = time.monotonic_ns()
        code: int | None
        try:
            done = subprocess.run(
                [*words(request, "program"), *words(request, "args")],
                cwd=folder[0] if folder else None,
                capture_output=True,
                check=False,
                process_group=0,
                **given,
            )
            out, err, code = done.stdout, done.stderr, done.returncode
        except subprocess.TimeoutExpired as late:
            out, err, code = late.stdout or b"", (late.stderr or b"") + b"process timed out", None
        except (OSError, ValueError) as why:
            return {"error": {"kind": "execution", "message": f"failed to spawn: {why}"}}
        return {
            "result": {
                "success": code == 0,
                "stdout": out.decode("utf-8", "replace"),
                "stderr": err.decode("utf-8", "replace"),
                "exit_code": code if code is not None and code >= 0 else None,
                "duration_ms": (time.monotonic_ns() - started) // 1_000_000,
                "output": None,
            }
        }

    def answer(self, message: Message, serving: bool) -> Message:
        op = message["op"]
        if op == "hello":
            return {"result": self.hello(message)}
        if op == "bye":
            return {"result": {}}
        if op == "exec.run":
            if serving:
                return {"error": {"kind": "invalid_input", "message": "not in serve mode"}}
            capability = self.needed(message)
            if capability is None:
                return self.execute(message["request"])
            op = capability
        return {"unsupported": {"capability": op, "why": "not declared"}}

    def encode(self, message: Message, answer: Message) -> bytes:
        return json.dumps({"id": message["id"], **answer}).encode()

    def deliver(self, line: bytes) -> None:
        """Write one line in serve mode."""
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()

    def place(self, line: bytes, path: str) -> None:
        """Write RESPONSE in run mode."""
        new = Path(path + ".new")
        new.write_bytes(line)
        new.replace(path)

    def begin(self) -> None:
        """Called before the first request."""

    def end(self) -> None:
        """Called after the last answer."""

    def serve(self) -> None:
        for line in sys.stdin.buffer:
            message = json.loads(line)
            self.deliver(self.encode(message, self.answer(message, True)))
            if message["op"] == "bye":
                break

    def run(self, request: str, response: str) -> None:
        message = json.loads(Path(request).read_bytes())
        self.place(self.encode(message, self.answer(message, False)), response)
        if "hold" in message:
            Path(message["hold"]).read_bytes()

    def main(self, arguments: list[str]) -> None:
        self.begin()
        if arguments[0] == "run":
            self.run(*arguments[1:])
        else:
            self.serve()
        self.end()


class SplitLines(Honest):
    """A correct shim that writes each piece of an answer only after the previous piece was read."""

    def deliver(self, line: bytes) -> None:
        data = line + b"\n"
        for start in range(0, len(data), 61):
            os.write(1, data[start : start + 61])
            self.wait_until_read()

    @staticmethod
    def wait_until_read() -> None:
        while struct.unpack("i", fcntl.ioctl(1, termios.FIONREAD, b"\0\0\0\0"))[0]:
            os.sched_yield()
