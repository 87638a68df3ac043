"""Fakes that are based on the compiler for literal rules."""

from __future__ import annotations

from compiling import Compiling, Refused
from honest import Message


class SbplYes(Compiling):
    """Returns a text that permits everything."""

    def text(self, rules: Message, root: str) -> str:
        return "(version 1)\n(allow default)\n"


class SbplNo(Compiling):
    """Returns a text that only denies."""

    def text(self, rules: Message, root: str) -> str:
        return "(version 1)\n(deny default)\n"


class SbplRefuses(Compiling):
    """Refuses every setup."""

    def text(self, rules: Message, root: str) -> str:
        raise Refused("invalid_input", "no")


class SbplOfAnotherDay(Compiling):
    """Returns two different texts for the same request."""

    turn = 0

    def text(self, rules: Message, root: str) -> str:
        self.turn += 1
        return f"{super().text(rules, root)}; {self.turn}\n"


class WrapYes(Compiling):
    """Wraps everything, even what is no valid command."""

    def wrapped(self, message: Message) -> Message:
        return {"argv": message["argv"], "wrapped": True, "warnings": []}


class WrapNo(Compiling):
    """Refuses every command."""

    def wrapped(self, message: Message) -> Message:
        raise Refused("execution", "no")


class DeclaredWrap(Compiling):
    """Declares that it wraps commands, but does not."""

    def answer(self, message: Message, serving: bool) -> Message:
        if message["op"] == "sbpl.wrap":
            return {"unsupported": {"capability": "sbpl.wrap", "why": "not today"}}
        return super().answer(message, serving)


class UndeclaredFold(Compiling):
    """Accepts `case: fold` without having declared it."""

    def answer(self, message: Message, serving: bool) -> Message:
        return super().answer({**message, "case": "sensitive"}, serving)
