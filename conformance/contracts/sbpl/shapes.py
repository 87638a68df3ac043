"""The shape of the answers about compiled profiles, checked by hand like the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from boxspec.target.client.shape import is_b64, is_bool, is_text, is_texts, need


def _twins(result: dict[str, Any], name: str) -> bool:
    """Exactly one of a name and its twin; whether it is the plain one."""
    plain, twin = name in result, f"{name}_b64" in result
    need(plain is not twin, f"/result/{name}", f"exactly one of {name} and {name}_b64")
    return plain


def _compiled(result: dict[str, Any]) -> None:
    if _twins(result, "text"):
        need(is_text(result["text"]), "/result/text", "a string")
    else:
        need(is_b64(result["text_b64"]), "/result/text_b64", "base64")
    need(is_texts(result.get("unguarded", [])), "/result/unguarded", "a list of rules")


def _wrapped(result: dict[str, Any]) -> None:
    if _twins(result, "argv"):
        need(is_texts(result["argv"]), "/result/argv", "a list of strings")
    else:
        words = result["argv_b64"]
        good = isinstance(words, list) and all(map(is_b64, words))
        need(good, "/result/argv_b64", "a list of base64")
    need(is_bool(result.get("wrapped")), "/result/wrapped", "true or false")
    need(is_texts(result.get("warnings")), "/result/warnings", "a list of strings")


def check(op: str, _: Mapping[str, Any], result: Any, __: frozenset[str]) -> None:
    """The result of one operation of this contract."""
    need(isinstance(result, dict), "/result", "an object")
    (_compiled if op == "sbpl.compile" else _wrapped)(result)
