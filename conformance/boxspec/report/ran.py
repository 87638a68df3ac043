"""Write the request of a test in a readable form: the program, its arguments, and other fields."""

from __future__ import annotations

import base64
import contextlib
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

# Match the folder of a case, which has a random name and is shown as `.`, and the path of a program
# of the kit, which is shown without its folder.
_CASE_FOLDER = re.compile(r"/[^\s\"']*?/boxspec-[\w-]+/[0-9a-f]{8}(?=/|$)")
# The second form is the copy of the programs that is made for a checkout below /tmp
# (boxspec/programs.py).
_PROGRAMS = re.compile(r"/[^\s\"']*/(?:fixtures/programs|programs-[0-9a-f]{8}-[0-9a-f]{8})/(?=\w)")
_ENCODED = "_b64"


def ran(request: str | None) -> str:
    """Return a text such as `siglog --children 3, timeout_ms 900` for a request in JSON."""
    if not request:
        return "no request was sent"
    try:
        message = json.loads(request)
    except ValueError:
        # The request was cut because of its length, or consists of arbitrary bytes on purpose.
        return readable(request)
    if not isinstance(message, dict) or "op" not in message:
        return readable(request)
    fields = {name: value for name, value in message.items() if name != "op"}
    inner = fields.pop("request", {})
    fields = {**inner, **fields} if isinstance(inner, dict) else {"request": inner, **fields}
    calls = fields.pop("calls", [])
    if calls and isinstance(calls, list) and isinstance(calls[0], dict):
        # For a session in a sandbox, its first program is shown: it tells a reader most.
        fields = {**(calls[0].get("request") or {}), **fields}
        if calls[1:]:
            fields["further calls"] = len(calls) - 1
        context = fields.pop("context", {})
        fields.update({name: value for name, value in context.items() if name != "root"})
    program = fields.pop("program", None)
    args = fields.pop("args", [])
    head = str(message["op"])
    if isinstance(program, str) and isinstance(args, list):
        words = [readable(str(word)) for word in (program, *args)]
        head = f"{head} {shlex.join(words)}"
    elif args:
        fields["args"] = args
    return ", ".join([head, *_fields(fields)])


def readable(text: str) -> str:
    """Return the text without the paths of the kit and of a case."""
    return _PROGRAMS.sub("", _CASE_FOLDER.sub(".", text))


def _fields(fields: Mapping[str, Any]) -> Iterator[str]:
    for name, value in fields.items():
        yield f"{name.removesuffix(_ENCODED)} {_value(name, value)}"


def _value(name: str, value: Any) -> str:
    if name.endswith(_ENCODED) and isinstance(value, str):
        with contextlib.suppress(ValueError):
            return repr(base64.b64decode(value, validate=True))[1:]
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, dict):
        return f"({', '.join(_fields(value))})"
    return readable(json.dumps(value, ensure_ascii=False))
