"""Check the shape of each answer by the schema of its operation, and explain mistakes in words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from jsonschema_rs import Resolved, ValidationError, ValidationErrorKind, Validator

from boxspec.judge.expect import shown
from boxspec.subject.client import schema

TYPES = {
    "object": "an object",
    "array": "a list",
    "string": "a string",
    "integer": "an integer",
    "boolean": "true or false",
    "null": "null",
    "any": "anything",
}
SHOWN = 80


class BadShape(Exception):
    """Raised for an answer that the protocol does not allow.

    The text names the place by its pointer.
    """


def check(message: Mapping[str, Any], answer: Any, capabilities: frozenset[str]) -> None:
    """Check the answer to a request. Raise BadShape with the place and the expected value."""
    wanted_id, op = message.get("id"), str(message.get("op"))
    # The id is checked first, because an answer to another request may have another shape.
    if isinstance(answer, dict) and answer.get("id") != wanted_id:
        said = shown(answer.get("id"))
        raise BadShape(f"/id: is {said}; wanted: {shown(wanted_id)}, the id of the request")
    follows(schema.of_answer(op, capabilities), answer)
    for name, of in schema.one_for_each(op).items() if "result" in answer else ():
        asked = message.get(of, message.get(f"{of}_b64"))
        given = len(answer["result"][name])
        if isinstance(asked, list) and given != len(asked):
            raise BadShape(f"/result/{name}: a list of {len(asked)}, as `{of}`; given: {given}")


def envelope(answer: Any) -> None:
    """Check the answer to a line that may not be a request. The id of the answer may be null."""
    follows(schema.of_answer("envelope"), answer)


def follows(validator: Validator, value: Any) -> None:
    """Raise BadShape for the first value that the schema does not allow."""
    try:
        try:
            error = _first(validator, value)
        except UnicodeEncodeError:
            # Lone surrogates are replaced before the check, because requirements decide whether a
            # text may have them.
            whole = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
            error = _first(validator, json.loads(whole))
    except (ValueError, RecursionError):
        raise BadShape("/: something is wrong, too deep in lists or objects to be shown") from None
    if error is not None:
        raise BadShape(_words(error))


def _first(validator: Validator, value: Any) -> ValidationError | None:
    return None if validator.is_valid(value) else next(validator.iter_errors(value))


def _words(error: ValidationError) -> str:
    path, kind, value = list(error.instance_path), error.kind, error.instance
    place, _, keyword = (error.absolute_keyword_location or "").rpartition("/")
    around: Any = schema.at(place).contents
    if isinstance(kind, ValidationErrorKind.Required):
        # For a missing field, the pointer names the field itself.
        text = f"{_pointer([*path, kind.property])}: is missing"
        _, declared, capability = place.partition(schema.DECLARED)
        if declared:
            text += f", {capability} is declared"
        if kind.property in around.get("properties", {}):
            text += f"; wanted: {wanted(schema.at(f'{place}/properties/{kind.property}'))}"
        return text
    if keyword == "oneOf" and isinstance(value, dict) and "required" in around["oneOf"][0]:
        ways = [each["required"] for each in around["oneOf"]]
        words = [way[0] if len(way) == 1 else f"({', '.join(way)})" for way in ways]
        there = [name for name in dict.fromkeys(chain(*ways)) if name in value]
        return f"{_pointer(path)}: exactly one of {', '.join(words)}; given: {there}"
    given = json.dumps(value)
    given = given if len(given) <= SHOWN else f"{given[:SHOWN]}…"
    return f"{_pointer(path)}: {wanted(schema.at(place))}; given: {given}"


def _pointer(path: Iterable[str | int]) -> str:
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
    return "".join(f"/{step}" for step in steps) or "/"


def wanted(place: Resolved) -> str:
    """Describe the expected value, by the title of the schema or by its keywords."""
    asked: Any = place.contents
    if "title" in asked:
        return str(asked["title"])
    if "$ref" in asked:
        return wanted(place.resolver.lookup(asked["$ref"]))
    consts = [each["const"] for each in asked.get("oneOf", [asked]) if "const" in each]
    choices = [json.dumps(each) for each in asked.get("enum", consts)]
    if choices:
        return choices[0] if len(choices) == 1 else f"one of {', '.join(choices)}"
    types = asked.get("type", "any")
    words = dict(TYPES)
    if "minimum" in asked:
        words["integer"] += f" from {asked['minimum']}"
    if "maximum" in asked:
        words["integer"] += f" to {asked['maximum']}"
    return " or ".join(words[each] for each in ([types] if isinstance(types, str) else types))
