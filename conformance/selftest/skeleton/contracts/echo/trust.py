"""Trust in a shim that declares echo, or does not: it answers, or says that it cannot."""

from __future__ import annotations

from boxspec.subject.case import Case
from boxspec.subject.sentinels import Ask, Say, sentinels

SENTINELS: dict[str, list[Ask]] = {"echo": [("echo.say", {"text": "smoke"})]}


def trust(case: Case, say: Say) -> None:
    sentinels(case.capabilities, lambda message: case.put(message).raw, SENTINELS, say)
