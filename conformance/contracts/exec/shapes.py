"""The shape of the answers about runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from boxspec.target.client.shape import (
    Check,
    error,
    is_b64,
    is_bool,
    is_text,
    is_texts,
    is_uint,
    need,
)

TERMINATIONS = frozenset({"exit", "signal", "timeout", "parent_signal", "cap", "stdin"})


def _stream(result: dict[str, Any], name: str, pointer: str) -> None:
    plain, twin = name in result, f"{name}_b64" in result
    need(plain is not twin, f"{pointer}/{name}", f"exactly one of {name} and {name}_b64")
    if twin:
        need(is_b64(result[f"{name}_b64"]), f"{pointer}/{name}_b64", "base64")
        return
    value = result[name]
    if isinstance(value, dict):
        digest: dict[str, Check] = {
            "bytes": is_uint,
            "sha256": lambda v: is_text(v) and len(v) == 64,
            "head_b64": is_b64,
            "tail_b64": is_b64,
        }
        for key, check in digest.items():
            need(check(value.get(key)), f"{pointer}/{name}/{key}", "of a digest")
    else:
        need(is_text(value), f"{pointer}/{name}", "a string or a digest")


_RUN: dict[str, tuple[Check, str]] = {
    "success": (is_bool, "true or false"),
    "exit_code": (lambda v: v is None or (is_uint(v) and v <= 255), "null or 0..255"),
    "duration_ms": (is_uint, "an integer from 0"),
}
_RUN_MORE: dict[str, tuple[Check, str]] = {
    "termination": (lambda v: v in TERMINATIONS, f"one of {sorted(TERMINATIONS)}"),
    "signal": (lambda v: v is None or (is_text(v) and v.startswith("SIG")), "null or a SIG name"),
    "detached_writers": (is_bool, "true or false"),
    "group_left": (is_uint, "an integer from 0"),
    "pending_signals": (is_texts, "a list of names"),
    "truncated": (is_bool, "true or false"),
}


def run_result(result: Any, capabilities: frozenset[str], pointer: str = "/result") -> None:
    need(isinstance(result, dict), pointer, "an object")
    for key, (check, words) in _RUN.items():
        need(key in result and check(result[key]), f"{pointer}/{key}", words)
    need("output" in result, f"{pointer}/output", "given, null")
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
            need(check(result[key]), f"{pointer}/{key}", words)
        else:
            need(not declared[key], f"{pointer}/{key}", "given, its capability is declared")


def batch_result(result: Any, count: int, capabilities: frozenset[str]) -> None:
    runs = result.get("runs") if isinstance(result, dict) else None
    need(isinstance(runs, list) and len(runs) == count, "/result/runs", f"a list of {count}")
    assert isinstance(runs, list)
    for index, run in enumerate(runs):
        pointer = f"/result/runs/{index}"
        one = isinstance(run, dict) and ("result" in run) is not ("error" in run)
        need(one, pointer, "exactly one of result, error")
        if "result" in run:
            run_result(run["result"], capabilities, f"{pointer}/result")
        else:
            error(run["error"], f"{pointer}/error")


def check(op: str, message: Mapping[str, Any], result: Any, capabilities: frozenset[str]) -> None:
    """The result of one operation of this contract."""
    if op == "exec.run":
        run_result(result, capabilities)
    elif op == "exec.batch":
        runs = message.get("runs")
        batch_result(result, len(runs) if isinstance(runs, list) else 0, capabilities)
    else:
        good = isinstance(result, dict) and is_text(result.get("text"))
        need(good, "/result/text", "a string")
