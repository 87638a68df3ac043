"""Faults of the repeated text."""

import echo.ops as ops
from faults.registry import fault, replaces


@fault("ECHO-SAY-01", "blanks at the ends are lost", "strip() on everything that comes in")
def blanks_are_lost():
    @replaces(ops)
    def spoken(original, text):
        return original(text).strip(" ")
