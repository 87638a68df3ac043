"""The trust check of echo: a shim that declares echo answers, any other shim refuses."""

from __future__ import annotations

from boxspec.subject.case import Case
from boxspec.subject.sentinels import Ask, Say, sentinels

SENTINELS: dict[str, list[Ask]] = {"echo": [("echo.say", {"text": "smoke"})]}


def trust(case: Case, say: Say) -> None:
    sentinels(case.capabilities, lambda message: case.put(message).raw, SENTINELS, say)
