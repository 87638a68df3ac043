#!/usr/bin/env python3
"""A shim for boxspec, contract module. Three places say FILL IN: name, capabilities, and how to
execute a module.

Until you fill them in, running.py executes the modules, so that `boxspec run` begins with a shim
that conforms to profile contract. A failure is then about your code. protocol.py needs no change.
"""

import json
import math
import os
import tempfile

from running import run

import protocol
from protocol import Failed

# FILL IN: the name and version of your implementation.
ABOUT = {"name": "my-implementation", "version": "0.1", "language": "Python"}
# FILL IN: its capabilities, by their names in shim-protocol.md. All others are refused.
CAPABILITIES = ["module"]
PASSED = {"PATH", "LANG", "LC_ALL"}


def failure(kind, module, **fields):
    return {"error": {"class": kind, "module_id": module, **fields}}


def environment(folder):
    """Return the environment of a module: a few variables of the caller, and no secret."""
    given = {
        name: value
        for name, value in os.environ.items()
        if name in PASSED or (name.startswith("APCORE_") and not name.startswith("APCORE_AUTH_"))
    }
    return given | {"HOME": folder, "TMPDIR": folder}


def execute(module, program, given, timeout_ms):
    """FILL IN: execute one module in a child process; return `value` or `error`."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        folder = os.path.realpath(folder)
        options = {"cwd": folder, "env": environment(folder)}
        try:
            code, out, err, ended = run(program, json.dumps(given).encode(), timeout_ms, **options)
        except OSError as why:
            return failure("SpawnFailed", module, message=str(why))
    if ended == "Timeout":
        return failure("Timeout", module, timeout_ms=timeout_ms)
    if ended is not None:
        return failure("Interrupted", module, signal=ended)
    if code != 0:
        text = err.decode("utf-8", "replace")
        return failure("NonZeroExit", module, exit_code=max(code, -1), stderr=text)
    try:
        return {"value": value_of(out)}
    except ValueError as why:
        return failure("OutputParseFailed", module, reason=str(why))


def value_of(output):
    """Return the JSON value of an output. Refuse what is JSON only to Python, such as NaN."""
    value = json.loads(output.decode(), parse_constant=finite, parse_float=finite)
    json.dumps(value, ensure_ascii=False).encode()  # refuses half of a surrogate pair
    return value


def finite(text):
    if not math.isfinite(float(text)):
        raise ValueError(f"{text} is no number of JSON")
    return float(text)


def module_execute(message):
    module = message["module_id"]
    if not message.get("enabled", True):
        return failure("NotWired", module)
    root = os.environ.get("APCORE_EXTENSIONS_ROOT", "./extensions")
    if message.keys() & {"extensions_root", "extensions_root_b64"}:
        root = os.fsdecode(protocol.content(message, "extensions_root"))
    root = os.path.realpath(root)
    program = os.path.join(root, module)
    if not os.path.isdir(root):
        raise Failed("io", f"the extensions root {root} is not a directory")
    if not os.path.isfile(program):
        return failure("SpawnFailed", module, message=f"module not found: {program}")
    return execute(module, program, message["input"], message.get("timeout_ms") or 300_000)


def starts_a_child(message):
    return message.get("enabled", True)


FIELDS = {"module_id", "input", "enabled", "timeout_ms", "extensions_root"}
FIELDS.add("extensions_root_b64")
protocol.main(
    {"implementation": ABOUT, "capabilities": CAPABILITIES},
    {"module.execute": (module_execute, FIELDS, starts_a_child)},
)
