"""What a test gets back: the shim's answer, and what observers saw beside it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from boxspec.client.b64 import unb64
from boxspec.errors import HarnessError
from boxspec.expect import shown
from boxspec.observe.procs import Proc
from boxspec.verdict import Failure


class Answer:
    """One result or error of exec.run, as the shim gave it."""

    def __init__(self, raw: dict[str, Any] | None) -> None:
        self.raw: dict[str, Any] | None = raw

    @property
    def _given(self) -> dict[str, Any]:
        if self.raw is None:
            raise Failure("the shim answers", "a response", "none", self._evidence())
        return self.raw

    def _evidence(self) -> dict[str, Any]:
        return {}

    @property
    def result(self) -> dict[str, Any]:
        """The result; an error or a refusal is a failure of the test."""
        given = self._given
        if "result" not in given:
            got = given.get("error", given.get("unsupported"))
            raise Failure("the request has a result", "a result", shown(got), self._evidence())
        result: dict[str, Any] = given["result"]
        return result

    @property
    def error(self) -> dict[str, Any]:
        """The error; a result is a failure of the test."""
        given = self._given
        if "error" not in given:
            got = given.get("result", given.get("unsupported"))
            raise Failure("the request is an error", "an error", shown(got), self._evidence())
        error: dict[str, Any] = given["error"]
        return error

    @property
    def unsupported(self) -> dict[str, Any] | None:
        return None if self.raw is None else self.raw.get("unsupported")

    @property
    def ok(self) -> bool:
        """There is a result (whatever the child made of it)."""
        return self.raw is not None and "result" in self.raw

    @cached_property
    def stdout(self) -> bytes:
        return self._stream("stdout")

    @cached_property
    def stderr(self) -> bytes:
        return self._stream("stderr")

    def _stream(self, name: str) -> bytes:
        result = self.result
        if f"{name}_b64" in result:
            return unb64(result[f"{name}_b64"])
        if isinstance(result[name], dict):
            raise HarnessError(f"{name} came as a digest: use {name}_len, _sha256, _head, _tail")
        text: str = result[name]
        return text.encode("utf-8", "surrogatepass")

    def _digest(self, name: str) -> dict[str, Any] | None:
        value = self.result.get(name)
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


@dataclass
class Observed:
    """What was seen from outside of one shim process."""

    shim_exit: tuple[str, int]
    t_started_ns: int
    t_ended_ns: int
    survivors: list[Proc] = field(default_factory=list)
    zombies: list[Proc] = field(default_factory=list)
    shim_stderr: bytes = b""
    shim_stdout: bytes = b""

    @property
    def elapsed_ms(self) -> float:
        return (self.t_ended_ns - self.t_started_ns) / 1e6


class _FromOutside:
    observed: Observed

    @property
    def shim_exit(self) -> tuple[str, int]:
        return self.observed.shim_exit

    @property
    def t_started_ns(self) -> int:
        return self.observed.t_started_ns

    @property
    def t_ended_ns(self) -> int:
        return self.observed.t_ended_ns

    @property
    def elapsed_ms(self) -> float:
        return self.observed.elapsed_ms

    @property
    def survivors(self) -> list[Proc]:
        return self.observed.survivors

    @property
    def zombies(self) -> list[Proc]:
        return self.observed.zombies

    @property
    def shim_stderr(self) -> bytes:
        return self.observed.shim_stderr

    @property
    def shim_stdout(self) -> bytes:
        return self.observed.shim_stdout

    def outside(self) -> dict[str, Any]:
        """The observations, for a failure's evidence."""
        facts: dict[str, Any] = {
            "shim": f"{self.shim_exit[0]} {self.shim_exit[1]} after {self.elapsed_ms:.1f} ms"
        }
        if self.survivors:
            facts["survivors"] = [proc.describe() for proc in self.survivors]
        if self.shim_stderr:
            facts["shim stderr"] = self.shim_stderr[-400:].decode("utf-8", "replace")
        return facts


class Seen(_FromOutside, Answer):
    """One exec.run (or any other message) through one shim process."""

    def __init__(self, raw: dict[str, Any] | None, observed: Observed) -> None:
        super().__init__(raw)
        self.observed = observed

    def _evidence(self) -> dict[str, Any]:
        return self.outside()


class BatchSeen(_FromOutside, Answer):
    """One exec.batch; `runs` holds an Answer per run, in order."""

    def __init__(self, raw: dict[str, Any] | None, observed: Observed) -> None:
        super().__init__(raw)
        self.observed = observed

    def _evidence(self) -> dict[str, Any]:
        return self.outside()

    @cached_property
    def runs(self) -> list[Answer]:
        return [Answer(run) for run in self.result["runs"]]
