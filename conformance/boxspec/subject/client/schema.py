"""Find the JSON Schemas of the operations by folder, and compile each of them once.

This folder `schemas`, and one in each contract, has a file for each operation, with its request and
its answer. The schemas use two additions to JSON Schema 2020-12:

* `x-one-for-each` at a list of a result: the list has one item for each item of the named request
  field.
* `$defs/declared.CAPABILITY`: fields that a result has if the shim declares that capability.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema_rs import Registry, Resolved, Validator, validator_for

from boxspec.places import CONTRACTS

DECLARED = "declared."

Schema = dict[str, Any]


@cache
def documents() -> dict[str, Schema]:
    """Return all schema files by name: those of operations, and shared definitions."""
    own = Path(__file__).with_name("schemas").glob("*.json")
    paths = [*own, *CONTRACTS.glob("*/schemas/*.json")]
    return {path.stem: json.loads(path.read_bytes()) for path in sorted(paths)}


@cache
def registry() -> Registry:
    here = {document["$id"]: document for document in documents().values()}
    return Registry([*here.items(), *_absent(here).items()])


_REFERENCE = re.compile(r'"\$ref": "([^"#]+)#/\$defs/([^"]+)"')


def _absent(here: dict[str, Schema]) -> dict[str, Schema]:
    """Return schemas that allow any value, to resolve references to a contract that is not
    installed."""
    found: dict[str, Schema] = {}
    for urn, name in _REFERENCE.findall(json.dumps(list(here.values()))):
        if urn not in here:
            found.setdefault(urn, {"$id": urn, "$defs": {}})["$defs"][name] = True
    return found


def is_operation(name: str) -> bool:
    return "request" in documents().get(name, {"$defs": {}})["$defs"]


@cache
def of_request(op: str) -> Validator:
    return _compiled({"$ref": f"{documents()[op]['$id']}#/$defs/request"})


@cache
def of_answer(op: str, capabilities: frozenset[str] = frozenset()) -> Validator:
    """Return the validator for answers of a shim with these capabilities.

    For an unknown operation the validator checks only the outer object.
    """
    document = documents()[op if is_operation(op) else "envelope"]
    place = f"{document['$id']}#/$defs"
    more = [
        {"properties": {"result": {"$ref": f"{place}/{name}"}}}
        for name in document["$defs"]
        if name.startswith(DECLARED) and name.removeprefix(DECLARED) in capabilities
    ]
    return _compiled({"allOf": [{"$ref": f"{place}/answer"}, *more]})


def _compiled(schema: Schema) -> Validator:
    return validator_for(schema, registry=registry(), offline=True)


@cache
def one_for_each(op: str) -> dict[str, str]:
    """Return the lists of a result whose length is fixed by the request.

    Each list is mapped to the list of the request that has the same length.
    """
    result = documents()[op]["$defs"].get("result", {}) if is_operation(op) else {}
    found = result.get("properties", {}).items()
    return {name: each["x-one-for-each"] for name, each in found if "x-one-for-each" in each}


def at(location: str) -> Resolved:
    """Return the schema at an absolute location, `urn:…#/…`, with a resolver for its references."""
    base, _, fragment = location.partition("#")
    return registry().resolver(base).lookup(f"#{fragment}")
