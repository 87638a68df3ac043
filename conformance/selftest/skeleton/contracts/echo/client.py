"""The client of echo, and its cases."""

from __future__ import annotations

from functools import cached_property

from boxspec.subject.case import Case


class EchoClient:
    def __init__(self, case: Case) -> None:
        self._case = case

    def say(self, text: str) -> str:
        """Return the text of the answer; an answer without a result fails the test."""
        return str(self._case.ask("echo.say", text=text).result["text"])


class EchoCase(Case):
    """A case of the contract echo."""

    @cached_property
    def echo(self) -> EchoClient:
        return EchoClient(self)
