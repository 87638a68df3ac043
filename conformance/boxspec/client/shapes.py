"""The shape of every answer, checked by hand: it is on the way of each message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from boxspec.client.b64 import unb64

KINDS = frozenset({"execution", "invalid_input", "policy_denied", "io"})
TERMINATIONS = frozenset({"exit", "signal", "timeout", "parent_signal", "cap", "stdin"})
MAX_UINT = 2**64 - 1

Check = Callable[[Any], bool]


class BadShape(Exception):
    """An answer that the protocol does not know; the text names the pointer."""


def _need(condition: bool, pointer: str, wanted: str) -> None:
    if not condition:
        raise BadShape(f"{pointer or '/'}: {wanted}")


def is_uint(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_UINT


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_b64(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        unb64(value)
    except ValueError:
        return False
    return True


def envelope(answer: Any, wanted_id: str) -> None:
    """The id and exactly one of result, unsupported, error."""
    _need(isinstance(answer, dict), "", "an answer is one JSON object")
    _need(answer.get("id") == wanted_id, "/id", f"is {answer.get('id')!r}, asked was {wanted_id!r}")
    given = [key for key in ("result", "unsupported", "error") if key in answer]
    _need(len(given) == 1, "", f"exactly one of result, unsupported, error; given: {given}")
    if "unsupported" in answer:
        unsupported = answer["unsupported"]
        _need(isinstance(unsupported, dict), "/unsupported", "an object")
        _need(is_text(unsupported.get("capability")), "/unsupported/capability", "a string")
        _need(is_text(unsupported.get("why", "")), "/unsupported/why", "a string")
    if "error" in answer:
        error(answer["error"], "/error")


def error(value: Any, pointer: str) -> None:
    _need(isinstance(value, dict), pointer, "an object")
    _need(value.get("kind") in KINDS, f"{pointer}/kind", f"one of {sorted(KINDS)}")
    _need(is_text(value.get("message")), f"{pointer}/message", "a string")
    problems = value.get("problems", [])
    _need(isinstance(problems, list), f"{pointer}/problems", "a list")
    for index, problem in enumerate(problems):
        good = isinstance(problem, dict) and is_text(problem.get("message"))
        _need(good and is_text(problem.get("pointer")), f"{pointer}/problems/{index}", "texts")


def _stream(result: dict[str, Any], name: str, pointer: str) -> None:
    plain, twin = name in result, f"{name}_b64" in result
    _need(plain is not twin, f"{pointer}/{name}", f"exactly one of {name} and {name}_b64")
    if twin:
        _need(_is_b64(result[f"{name}_b64"]), f"{pointer}/{name}_b64", "base64")
        return
    value = result[name]
    if isinstance(value, dict):
        digest: dict[str, Check] = {
            "bytes": is_uint,
            "sha256": lambda v: is_text(v) and len(v) == 64,
            "head_b64": _is_b64,
            "tail_b64": _is_b64,
        }
        for key, check in digest.items():
            _need(check(value.get(key)), f"{pointer}/{name}/{key}", "of a digest")
    else:
        _need(is_text(value), f"{pointer}/{name}", "a string or a digest")


_RUN: dict[str, tuple[Check, str]] = {
    "success": (_is_bool, "true or false"),
    "exit_code": (lambda v: v is None or (is_uint(v) and v <= 255), "null or 0..255"),
    "duration_ms": (is_uint, "an integer from 0"),
}
_RUN_MORE: dict[str, tuple[Check, str]] = {
    "termination": (lambda v: v in TERMINATIONS, f"one of {sorted(TERMINATIONS)}"),
    "signal": (lambda v: v is None or (is_text(v) and v.startswith("SIG")), "null or a SIG name"),
    "detached_writers": (_is_bool, "true or false"),
    "group_left": (is_uint, "an integer from 0"),
    "pending_signals": (_is_texts, "a list of names"),
    "truncated": (_is_bool, "true or false"),
}


def run_result(result: Any, capabilities: frozenset[str], pointer: str = "/result") -> None:
    _need(isinstance(result, dict), pointer, "an object")
    for key, (check, words) in _RUN.items():
        _need(key in result and check(result[key]), f"{pointer}/{key}", words)
    _need("output" in result, f"{pointer}/output", "given, null")
    _stream(result, "stdout", pointer)
    _stream(result, "stderr", pointer)
    declared = {
        key: "exec.cap" in capabilities
        if key == "truncated"
        else "exec.termination" in capabilities
        for key in _RUN_MORE
    }
    for key, (check, words) in _RUN_MORE.items():
        if key in result:
            _need(check(result[key]), f"{pointer}/{key}", words)
        else:
            _need(not declared[key], f"{pointer}/{key}", "given, its capability is declared")


def batch_result(result: Any, count: int, capabilities: frozenset[str]) -> None:
    runs = result.get("runs") if isinstance(result, dict) else None
    _need(isinstance(runs, list) and len(runs) == count, "/result/runs", f"a list of {count}")
    assert isinstance(runs, list)
    for index, run in enumerate(runs):
        pointer = f"/result/runs/{index}"
        one = isinstance(run, dict) and ("result" in run) is not ("error" in run)
        _need(one, pointer, "exactly one of result, error")
        if "result" in run:
            run_result(run["result"], capabilities, f"{pointer}/result")
        else:
            error(run["error"], f"{pointer}/error")


def hello_result(result: Any) -> None:
    _need(isinstance(result, dict), "/result", "an object")
    _need(result.get("protocol") == 1, "/result/protocol", "1")
    _need(is_text(result.get("nonce")), "/result/nonce", "a string")
    _need(is_uint(result.get("pid")), "/result/pid", "an integer")
    implementation = result.get("implementation")
    _need(isinstance(implementation, dict), "/result/implementation", "an object")
    for key in ("name", "version"):
        _need(is_text(implementation.get(key)), f"/result/implementation/{key}", "a string")
    _need(_is_texts(result.get("capabilities")), "/result/capabilities", "a list of names")
    for part in ("limits", "constants", "backends"):
        _need(isinstance(result.get(part, {}), dict), f"/result/{part}", "an object")
    for key, value in result.get("constants", {}).items():
        _need(is_uint(value), f"/result/constants/{key}", "an integer from 0")


def check(op: str, answer: Any, wanted_id: str, capabilities: frozenset[str], count: int) -> None:
    """The whole answer of one operation; BadShape names what is wrong."""
    envelope(answer, wanted_id)
    if "result" not in answer:
        return
    if op == "exec.run":
        run_result(answer["result"], capabilities)
    elif op == "exec.batch":
        batch_result(answer["result"], count, capabilities)
    elif op == "exec.format_env":
        result = answer["result"]
        good = isinstance(result, dict) and is_text(result.get("text"))
        _need(good, "/result/text", "a string")
    elif op == "hello":
        hello_result(answer["result"])
