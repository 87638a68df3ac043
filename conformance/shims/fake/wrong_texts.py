"""Fakes over the compiler of literal rules."""

from __future__ import annotations

from compiling import Compiling, Refused
from honest import Message


class SbplYes(Compiling):
    """The text allows all."""

    def text(self, rules: Message, root: str) -> str:
        return "(version 1)\n(allow default)\n"


class SbplNo(Compiling):
    """Returns a text that only denies."""

    def text(self, rules: Message, root: str) -> str:
        return "(version 1)\n(deny default)\n"


class SbplRefuses(Compiling):
    """No setup can be compiled."""

    def text(self, rules: Message, root: str) -> str:
        raise Refused("invalid_input", "no")


class SbplOfAnotherDay(Compiling):
    """Answers the same request with two texts."""

    turn = 0

    def text(self, rules: Message, root: str) -> str:
        self.turn += 1
        return f"{super().text(rules, root)}; {self.turn}\n"


class WrapYes(Compiling):
    """Makes a command of everything."""

    def wrapped(self, message: Message) -> Message:
        return {"argv": message["argv"], "wrapped": True, "warnings": []}


class WrapNo(Compiling):
    """Makes no command of anything."""

    def wrapped(self, message: Message) -> Message:
        raise Refused("execution", "no")


class DeclaredWrap(Compiling):
    """Says in hello that it wraps, and does not."""

    def answer(self, message: Message, serving: bool) -> Message:
        if message["op"] == "sbpl.wrap":
            return {"unsupported": {"capability": "sbpl.wrap", "why": "not today"}}
        return super().answer(message, serving)


class UndeclaredFold(Compiling):
    """Accepts `case: fold` without having declared it."""

    def answer(self, message: Message, serving: bool) -> Message:
        return super().answer({**message, "case": "sensitive"}, serving)
