"""The client for compiled profiles and wrapped commands. A case has it as `case.sbpl`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypedDict, Unpack, cast

from boxspec.subject.case import Case, Message
from boxspec.subject.client.b64 import Word, b64, put_word, put_words, raw, text_or_none, unb64
from boxspec.subject.observed import Answer
from contracts.sbpl.text import Text
from contracts.shared.documents import Policy, one_profile

HOME = "/Users/u"
ROOT = "/Users/u/ws"


@dataclass(frozen=True)
class Setup:
    """The input of a compilation. Rules are in normal form."""

    modify: Sequence[str] = ()
    read: Sequence[str] = ("**",)
    deny_modify: Sequence[str] = ()
    deny_read: Sequence[str] = ()
    root: Word = ROOT
    env: Mapping[str, Word] = field(default_factory=dict)
    side_roots: Sequence[Word] = ()
    provider: str | None = None
    case: str | None = None

    def but(self, **changes: Any) -> Setup:
        return replace(self, **changes)

    @property
    def rules(self) -> dict[str, list[str]]:
        given = {
            "read": self.read,
            "modify": self.modify,
            "denyRead": self.deny_read,
            "denyModify": self.deny_modify,
        }
        return {name: list(rules) for name, rules in given.items() if rules}

    @property
    def policy(self) -> Policy:
        """Return the rules as a policy file with the profile `p`."""
        return one_profile(self.read, self.modify, self.deny_read, self.deny_modify)

    def message(self) -> Message:
        made: Message = {"op": "sbpl.compile", "rules": self.rules}
        put_word(made, "root", self.root)
        if any(text_or_none(value) is None for value in self.env.values()):
            made["env_b64"] = {name: b64(value) for name, value in self.env.items()}
        elif self.env:
            made["env"] = {name: text_or_none(value) for name, value in self.env.items()}
        if self.side_roots:
            put_words(made, "side_roots", self.side_roots)
        for name, value in (("provider", self.provider), ("case", self.case)):
            if value is not None:
                made[name] = value
        return made


class CompileResult(TypedDict, total=False):
    """The result of sbpl.compile."""

    text: str
    text_b64: str
    unguarded: list[str]


class Compiled(Answer):
    @property
    def result(self) -> CompileResult:
        return cast(CompileResult, super().result)


class WrapResult(TypedDict, total=False):
    """The result of sbpl.wrap."""

    argv: list[str]
    argv_b64: list[str]
    wrapped: bool
    warnings: list[str]


class Wrapped(Answer):
    @property
    def result(self) -> WrapResult:
        return cast(WrapResult, super().result)


class WrapFields(TypedDict, total=False):
    """The fields of sbpl.wrap, without `argv`."""

    file: Word
    dir: Word
    text: Word
    provider: str | None
    allow_fallback: bool | None
    wrapper: str | None


class SbplClient:
    """The client for profile texts and wrapped commands."""

    def __init__(self, case: Case) -> None:
        self._case = case

    def compile(self, setup: Setup) -> Compiled:
        message = setup.message()
        return Compiled(self._case.put(message).raw).of(message)

    def compiled(self, setup: Setup) -> Text:
        """Compile a valid setup, and parse the text."""
        return Text.of(self.compile(setup), setup.root)

    def wrap(self, argv: Sequence[Word], **fields: Unpack[WrapFields]) -> Wrapped:
        """Send sbpl.wrap. By default `file` names a file that is never read."""
        message = wrap_message(argv, **fields)
        return Wrapped(self._case.put(message).raw).of(message)

    def wrapped(self, argv: Sequence[Word], **fields: Unpack[WrapFields]) -> list[bytes]:
        """Return the wrapped command, for a request that says that the wrapper is present."""
        given: WrapFields = {"wrapper": "present"}
        return argv_of(self.wrap(argv, **(given | fields)))


FILE = "/private/tmp/p.sb"


def wrap_message(argv: Sequence[Word], **fields: Unpack[WrapFields]) -> Message:
    """Return a request of sbpl.wrap, without the fields that are None. Paths may be bytes."""
    made: Message = {"op": "sbpl.wrap"}
    put_words(made, "argv", argv)
    given: dict[str, Any] = dict(fields)
    if "text" not in given:
        given = {"file": FILE, **given}
    for name, value in given.items():
        if name in ("file", "dir", "text"):
            put_word(made, name, value)
        elif value is not None:
            made[name] = value
    return made


def argv_of(answer: Answer) -> list[bytes]:
    result = answer.result
    if "argv_b64" in result:
        return [unb64(word) for word in result["argv_b64"]]
    return [raw(word) for word in result["argv"]]


class SbplCase(Case):
    """A case of the contract sbpl."""

    @cached_property
    def sbpl(self) -> SbplClient:
        return SbplClient(self)
