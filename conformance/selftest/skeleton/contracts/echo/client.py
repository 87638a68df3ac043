"""What a case has as `case.echo`."""

from __future__ import annotations

from boxspec.subject.case import Case


class EchoClient:
    def __init__(self, case: Case) -> None:
        self._case = case

    def say(self, text: str) -> str:
        """What comes back; an answer without a result is a failure of the case."""
        return str(self._case.ask("echo.say", text=text).result["text"])
