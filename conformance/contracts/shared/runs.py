"""The answer about one run. Each stream in it is complete, or is given as a digest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import Any, TypedDict, cast

from boxspec.subject.client.b64 import unb64
from boxspec.subject.observed import Answer


class Digest(TypedDict):
    """A stream that is too long for the answer."""

    bytes: int
    sha256: str
    head_b64: str
    tail_b64: str


class RunResult(TypedDict, total=False):
    """The result of a run."""

    success: bool
    exit_code: int | None
    duration_ms: int
    stdout: str | Digest
    stdout_b64: str
    stderr: str | Digest
    stderr_b64: str
    output: str
    termination: str
    signal: str | None
    truncated: bool
    detached_writers: bool
    group_left: int
    killed_writers: bool
    pending_signals: list[str]
    enforcement: str
    enforcement_reasons: list[str]


class RunAnswer(Answer):
    """The result or error of one run."""

    @property
    def result(self) -> RunResult:
        return cast(RunResult, super().result)

    @cached_property
    def stdout(self) -> bytes:
        return self._stream("stdout")

    @cached_property
    def stderr(self) -> bytes:
        return self._stream("stderr")

    def _stream(self, name: str) -> bytes:
        result: Mapping[str, Any] = super().result
        if f"{name}_b64" in result:
            return unb64(result[f"{name}_b64"])
        if digest := self._digest(name):
            raise self._wrong(name, "a short text", f"{digest['bytes']} bytes, as a digest")
        text: str = result[name]
        return text.encode("utf-8", "surrogatepass")

    def _digest(self, name: str) -> dict[str, Any] | None:
        value = super().result.get(name)
        return value if isinstance(value, dict) else None

    def _len(self, name: str) -> int:
        digest = self._digest(name)
        return int(digest["bytes"]) if digest else len(self._stream(name))

    def _sha256(self, name: str) -> str:
        digest = self._digest(name)
        return str(digest["sha256"]) if digest else hashlib.sha256(self._stream(name)).hexdigest()

    def _end(self, name: str, head: bool) -> bytes:
        digest = self._digest(name)
        if digest:
            return unb64(digest["head_b64" if head else "tail_b64"])
        data = self._stream(name)
        return data[:4096] if head else data[-4096:]

    @property
    def stdout_len(self) -> int:
        return self._len("stdout")

    @property
    def stderr_len(self) -> int:
        return self._len("stderr")

    @property
    def stdout_sha256(self) -> str:
        return self._sha256("stdout")

    @property
    def stderr_sha256(self) -> str:
        return self._sha256("stderr")

    @property
    def stdout_head(self) -> bytes:
        return self._end("stdout", True)

    @property
    def stdout_tail(self) -> bytes:
        return self._end("stdout", False)

    @property
    def stderr_head(self) -> bytes:
        return self._end("stderr", True)

    @property
    def stderr_tail(self) -> bytes:
        return self._end("stderr", False)
