"""What all shapes are made of: the words for a wrong one, and the error of the envelope."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from boxspec.target.client.b64 import unb64

KINDS = frozenset({"execution", "invalid_input", "policy_denied", "io"})
FILES = frozenset({"global", "workspace"})
MAX_UINT = 2**64 - 1

Check = Callable[[Any], bool]


class BadShape(Exception):
    """An answer that the protocol does not know; the text names the pointer."""


def need(condition: bool, pointer: str, wanted: str) -> None:
    if not condition:
        raise BadShape(f"{pointer or '/'}: {wanted}")


def is_uint(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_UINT


def is_place(value: Any) -> bool:
    """A line or a column: both count from 1."""
    return is_uint(value) and value >= 1


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def is_b64(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        unb64(value)
    except ValueError:
        return False
    return True


def is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def error(value: Any, pointer: str) -> None:
    need(isinstance(value, dict), pointer, "an object")
    need(is_text(value.get("kind")), f"{pointer}/kind", "a string")
    need(value["kind"] in KINDS, f"{pointer}/kind", f"one of {sorted(KINDS)}")
    need(is_text(value.get("message")), f"{pointer}/message", "a string")
    problems = value.get("problems", [])
    need(isinstance(problems, list), f"{pointer}/problems", "a list")
    for index, problem in enumerate(problems):
        place = f"{pointer}/problems/{index}"
        good = isinstance(problem, dict) and is_text(problem.get("message"))
        need(good and is_text(problem.get("pointer")), place, "texts")
        for key in ("line", "column"):
            need(key not in problem or is_place(problem[key]), f"{place}/{key}", "from 1")
        file = problem.get("file", "global")
        need(is_text(file) and file in FILES, f"{place}/file", "global or workspace")
