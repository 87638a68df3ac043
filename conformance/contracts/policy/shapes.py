"""The shape of the answers about globs and policies, checked by hand like the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from boxspec.target.client.shape import FILES, Check, error, is_bool, is_place, is_text, need

ORIGINS = frozenset({"profile", "denyRead", "denyModify", "exception"})
PROFILE_ORIGINS = frozenset({"defined", "synthesized"})

Fields = dict[str, tuple[Check, str]]


def is_rule(value: Any) -> bool:
    """An entry of a resolved list: a rule, or an exception."""
    if isinstance(value, dict):
        return is_text(value.get("except"))
    return is_text(value)


def is_rules(value: Any) -> bool:
    return isinstance(value, list) and all(is_rule(entry) for entry in value)


_WARNING: Fields = {
    "code": (is_text, "a string"),
    "pointer": (is_text, "a string"),
    "line": (is_place, "an integer from 1"),
    "column": (is_place, "an integer from 1"),
    "file": (FILES.__contains__, "global or workspace"),
    "message": (is_text, "a string"),
}
_CHECK: Fields = {
    "allowed": (is_bool, "true or false"),
    "path": (is_text, "a string"),
    "matched_rule": (is_text, "a string"),
}
_REAL: Fields = {**_CHECK, "real": (lambda v: v is None or is_text(v), "null or a string")}
_ENTRY: Fields = {
    "rule": (is_rule, "a rule, or an object with `except`"),
    "origin": (ORIGINS.__contains__, f"one of {sorted(ORIGINS)}"),
    "file": (lambda v: v is None or v in FILES, "null, global or workspace"),
    "line": (lambda v: v is None or is_place(v), "null or an integer from 1"),
    "matched": (is_bool, "true or false"),
    "deciding": (is_bool, "true or false"),
}
_PROFILE: Fields = {
    "profile": (is_text, "a string"),
    "profile_origin": (PROFILE_ORIGINS.__contains__, f"one of {sorted(PROFILE_ORIGINS)}"),
}
_RESOLVED: Fields = {
    **_PROFILE,
    "read": (is_rules, "a list of rules"),
    "modify": (is_rules, "a list of rules"),
}
_EVENT: Fields = {
    **_PROFILE,
    **_CHECK,
    "time": (is_text, "a string"),
    "op": (frozenset({"read", "modify"}).__contains__, "read or modify"),
}


def _fields(value: Any, fields: Fields, pointer: str) -> None:
    need(isinstance(value, dict), pointer, "an object")
    for key, (check, words) in fields.items():
        try:
            good = key in value and check(value[key])
        except TypeError:
            # A list or an object where a word of a set is due.
            good = False
        need(good, f"{pointer}/{key}", words)


def _each(result: Any, key: str, count: int, item: Callable[[Any, str], None]) -> None:
    """A list with one entry for each question: an answer or the error of this one."""
    values = result.get(key) if isinstance(result, dict) else None
    need(isinstance(values, list) and len(values) == count, f"/result/{key}", f"a list of {count}")
    assert isinstance(values, list)
    for index, value in enumerate(values):
        pointer = f"/result/{key}/{index}"
        need(isinstance(value, dict), pointer, "an object")
        if "error" in value:
            need(len(value) == 1, pointer, "an answer or an error")
            error(value["error"], f"{pointer}/error")
        else:
            item(value, pointer)


def _items(fields: Fields) -> Callable[[Any, str], None]:
    return lambda value, pointer: _fields(value, fields, pointer)


def _explained(value: Any, pointer: str) -> None:
    _fields(value, _CHECK, pointer)
    entries = value.get("entries")
    need(isinstance(entries, list), f"{pointer}/entries", "a list")
    for index, entry in enumerate(entries):
        _fields(entry, _ENTRY, f"{pointer}/entries/{index}")


def _loaded(result: Any) -> None:
    _fields(result, {"name": (is_text, "a string")}, "/result")
    need(is_text(result.get("description", "")), "/result/description", "a string")
    warnings = result.get("warnings")
    need(isinstance(warnings, list), "/result/warnings", "a list")
    for index, warning in enumerate(warnings):
        _fields(warning, _WARNING, f"/result/warnings/{index}")


def _count(message: Mapping[str, Any], name: str) -> int:
    return len(message.get(name, message.get(f"{name}_b64", ())))


def check(op: str, message: Mapping[str, Any], result: Any, _: frozenset[str]) -> None:
    """The result of one operation, where it is one of these."""
    checks = _count(message, "checks")
    if op == "path.normalize":
        normal = _items({"path": (is_text, "a string")})
        _each(result, "items", _count(message, "paths"), normal)
    elif op == "glob.match":
        matched = _items({"match": (is_bool, "true or false")})
        _each(result, "items", _count(message, "paths"), matched)
    elif op == "policy.load":
        _loaded(result)
    elif op == "policy.resolve":
        _fields(result, _RESOLVED, "/result")
    elif op == "policy.check":
        _each(result, "checks", checks, _items(_CHECK))
    elif op == "policy.check_resolved":
        _each(result, "checks", checks, _items(_REAL))
    elif op == "policy.explain":
        _each(result, "checks", checks, _explained)
    elif op == "policy.audit":
        _each(result, "events", checks, _items(_EVENT))
