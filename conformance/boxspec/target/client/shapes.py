"""The shape of every answer, checked by hand: it is on the way of each message."""

from __future__ import annotations

from typing import Any

from boxspec.target.client.shape import BadShape, error, is_text, is_texts, is_uint, need
from boxspec.target.contract import owner

__all__ = ["BadShape", "check", "envelope"]


def envelope(answer: Any, wanted_id: str) -> None:
    """The id and exactly one of result, unsupported, error."""
    need(isinstance(answer, dict), "", "an answer is one JSON object")
    need(answer.get("id") == wanted_id, "/id", f"is {answer.get('id')!r}, asked was {wanted_id!r}")
    given = [key for key in ("result", "unsupported", "error") if key in answer]
    need(len(given) == 1, "", f"exactly one of result, unsupported, error; given: {given}")
    if "unsupported" in answer:
        unsupported = answer["unsupported"]
        need(isinstance(unsupported, dict), "/unsupported", "an object")
        need(is_text(unsupported.get("capability")), "/unsupported/capability", "a string")
        need(is_text(unsupported.get("why", "")), "/unsupported/why", "a string")
    if "error" in answer:
        error(answer["error"], "/error")


def hello_result(result: Any) -> None:
    need(isinstance(result, dict), "/result", "an object")
    need(result.get("protocol") == 1, "/result/protocol", "1")
    need(is_text(result.get("nonce")), "/result/nonce", "a string")
    need(is_uint(result.get("pid")), "/result/pid", "an integer")
    implementation = result.get("implementation")
    need(isinstance(implementation, dict), "/result/implementation", "an object")
    for key in ("name", "version"):
        need(is_text(implementation.get(key)), f"/result/implementation/{key}", "a string")
    need(is_texts(result.get("capabilities")), "/result/capabilities", "a list of names")
    for part in ("limits", "constants", "backends"):
        need(isinstance(result.get(part, {}), dict), f"/result/{part}", "an object")
    for key, value in result.get("constants", {}).items():
        need(is_uint(value), f"/result/constants/{key}", "an integer from 0")


def check(message: dict[str, Any], answer: Any, capabilities: frozenset[str]) -> None:
    """The whole answer to one request; BadShape names what is wrong."""
    op = str(message.get("op"))
    envelope(answer, str(message.get("id")))
    if "result" not in answer:
        return
    if op == "hello":
        hello_result(answer["result"])
    elif (contract := owner(op)) is not None:
        contract.shape(op, message, answer["result"], capabilities)
