"""The answer of a shim, and the observations from outside the shim."""

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
    """The answer to a request: a result, an error or a refusal."""

    def __init__(self, raw: dict[str, Any] | None) -> None:
        self.raw: dict[str, Any] | None = raw
        # The request that was answered.
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
        """Return the result. If the answer is an error or a refusal, the test fails.

        The answer classes of a contract return a TypedDict, which names the fields.
        """
        given = self._given
        if "result" not in given:
            got = given.get("error", given.get("unsupported"))
            raise self._wrong("the request has a result", "a result", shown(got))
        result: Mapping[str, Any] = given["result"]
        return result

    @property
    def error(self) -> Error:
        """Return the error. If the answer is a result, the test fails."""
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
        """True if there is a result, whether or not the child succeeded."""
        return self.raw is not None and "result" in self.raw


class AnswerText(str):
    """A text that was made from an answer.

    If an expectation about this text fails, the failure block shows the request of that answer.
    """

    answer: Answer

    def __new__(cls, words: str, answer: Answer) -> Self:
        made = super().__new__(cls, words)
        made.answer = answer
        return made

    def __deepcopy__(self, _: object) -> str:
        # Records of results copy this object. They need only the text, so the copy is a plain str.
        return str(self)


@dataclass
class Facts:
    """The observations of one shim process from outside.

    survivors: processes that ran when the shim ended, or when its response appeared.
    lasting: the survivors, except those that were killed already and about to end.
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
        """The time at which the shim started, just before its exec."""
        return self.observed.start

    @property
    def end(self) -> Stamp:
        """The time at which the shim ended, as the warden recorded it."""
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
        """Return the observations, as evidence for a failure."""
        facts: dict[str, Any] = {
            "shim": f"{self.shim_exit[0]} {self.shim_exit[1]} after {self.elapsed_ms:.1f} ms"
        }
        if self.survivors:
            facts["survivors"] = [proc.describe() for proc in self.survivors]
        if self.shim_stderr:
            facts["shim stderr"] = self.shim_stderr[-400:].decode("utf-8", "replace")
        return facts


class Observed(FromOutside, Answer):
    """The answer to a message for which a shim process was started, with the observations."""

    def __init__(self, raw: dict[str, Any] | None, observed: Facts) -> None:
        super().__init__(raw)
        self.observed = observed

    def _evidence(self) -> dict[str, Any]:
        return self.outside()
