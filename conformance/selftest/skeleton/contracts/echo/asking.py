"""What a case has as `box.echo`."""

from __future__ import annotations

from boxspec.subject.case import Box


class AsksEcho:
    def __init__(self, box: Box) -> None:
        self._box = box

    def say(self, text: str) -> str:
        """What comes back; an answer without a result is a failure of the case."""
        return str(self._box.ask("echo.say", text=text).result["text"])
