"""What a test gets back: the shim's answer, and what observers saw beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self, TypedDict

from boxspec.judge.expect import shown
from boxspec.judge.verdict import Failure
from boxspec.subject.observe.procs import Proc
from boxspec.subject.observe.stamps import Stamp


class Problem(TypedDict, total=False):
    """One of the problems of an error."""

    code: str
    pointer: str
    line: int
    column: int
    file: str
    message: str


class Error(TypedDict, total=False):
    """The error of an answer."""

    kind: str
    message: str
    problems: list[Problem]


class Answer:
    """A result, an error or a refusal, as the shim gave it."""

    def __init__(self, raw: dict[str, Any] | None) -> None:
        self.raw: dict[str, Any] | None = raw
        # What it answers.
        self.message: dict[str, Any] | bytes | None = None

    def of(self, message: dict[str, Any] | bytes) -> Self:
        self.message = message
        return self

    @property
    def _given(self) -> dict[str, Any]:
        if self.raw is None:
            raise self._wrong("the shim answers", "a response", "none")
        return self.raw

    def _evidence(self) -> dict[str, Any]:
        return {}

    def _wrong(self, what: str, expected: str, got: str) -> Failure:
        return Failure(what, expected, got, self._evidence(), asked=self.message)

    @property
    def result(self) -> Mapping[str, Any]:
        """The result; an error or a refusal is a failure of the test.

        The answers of a contract name its fields: they return a TypedDict here.
        """
        given = self._given
        if "result" not in given:
            got = given.get("error", given.get("unsupported"))
            raise self._wrong("the request has a result", "a result", shown(got))
        result: Mapping[str, Any] = given["result"]
        return result

    @property
    def error(self) -> Error:
        """The error; a result is a failure of the test."""
        given = self._given
        if "error" not in given:
            got = given.get("result", given.get("unsupported"))
            raise self._wrong("the request is an error", "an error", shown(got))
        error: Error = given["error"]
        return error

    @property
    def unsupported(self) -> dict[str, Any] | None:
        return None if self.raw is None else self.raw.get("unsupported")

    @property
    def ok(self) -> bool:
        """There is a result (whatever the child made of it)."""
        return self.raw is not None and "result" in self.raw


class Told(str):
    """Words about an answer: a failure that is about them shows its request."""

    answer: Answer

    def __new__(cls, words: str, answer: Answer) -> Self:
        made = super().__new__(cls, words)
        made.answer = answer
        return made

    def __deepcopy__(self, _: object) -> str:
        # In a record, which is copied for the result, the words stand alone.
        return str(self)


@dataclass
class Facts:
    """What was seen from outside of one shim process.

    survivors: what ran when it ended, or when its response was there. lasting: those of them that
    nobody had killed; the others were about to be gone.
    """

    shim_exit: tuple[str, int]
    start: Stamp
    end: Stamp
    survivors: list[Proc] = field(default_factory=list)
    lasting: list[Proc] = field(default_factory=list)
    zombies: list[Proc] = field(default_factory=list)
    shim_stderr: bytes = b""
    shim_stdout: bytes = b""

    @property
    def elapsed_ms(self) -> float:
        return (self.end.t_ns - self.start.t_ns) / 1e6


class FromOutside:
    observed: Facts

    @property
    def shim_exit(self) -> tuple[str, int]:
        return self.observed.shim_exit

    @property
    def start(self) -> Stamp:
        """Of the shim, just before its exec."""
        return self.observed.start

    @property
    def end(self) -> Stamp:
        """Of the shim, when its warden noticed."""
        return self.observed.end

    @property
    def elapsed_ms(self) -> float:
        return self.observed.elapsed_ms

    @property
    def survivors(self) -> list[Proc]:
        return self.observed.survivors

    @property
    def lasting(self) -> list[Proc]:
        return self.observed.lasting

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


class Observed(FromOutside, Answer):
    """The answer to one message through a shim process of its own, and what was seen of it."""

    def __init__(self, raw: dict[str, Any] | None, observed: Facts) -> None:
        super().__init__(raw)
        self.observed = observed

    def _evidence(self) -> dict[str, Any]:
        return self.outside()
