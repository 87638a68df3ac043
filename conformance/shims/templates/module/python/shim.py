#!/usr/bin/env python3
"""A shim for boxspec, contract module. Three places say FILL IN: name, capabilities, and how to
execute a module.

Until you fill them in, Python's subprocess.run executes the modules, so that `boxspec smoke` and
`boxspec run` work at once. protocol.py needs no change.
"""

import json
import os
import signal
import subprocess
import tempfile

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
        try:
            done = subprocess.run(
                [program],
                input=json.dumps(given).encode(),
                cwd=folder,
                env=environment(folder),
                timeout=timeout_ms / 1000,
                capture_output=True,
            )
        except subprocess.TimeoutExpired:
            return failure("Timeout", module, timeout_ms=timeout_ms)
        except OSError as why:
            return failure("SpawnFailed", module, message=str(why))
    if done.returncode < 0:
        return failure("Signaled", module, signal=signal.Signals(-done.returncode).name)
    if done.returncode > 0:
        text = done.stderr.decode("utf-8", "replace")
        return failure("NonZeroExit", module, exit_code=done.returncode, stderr=text)
    try:
        return {"value": json.loads(done.stdout)}
    except ValueError as why:
        return failure("OutputParseFailed", module, reason=str(why))


def module_execute(message):
    module = message["module_id"]
    if not message.get("enabled", True):
        return failure("NotWired", module)
    root = os.environ.get("APCORE_EXTENSIONS_ROOT", "./extensions")
    root = os.path.realpath(message.get("extensions_root", root))
    program = os.path.join(root, module)
    if not os.path.isdir(root):
        raise Failed("io", f"the extensions root {root} is not a directory")
    if not os.path.isfile(program):
        return failure("SpawnFailed", module, message=f"module not found: {program}")
    return execute(module, program, message["input"], message.get("timeout_ms") or 300_000)


def starts_a_child(message):
    return message.get("enabled", True)


FIELDS = {"module_id", "input", "enabled", "timeout_ms", "extensions_root"}
protocol.main(
    {"implementation": ABOUT, "capabilities": CAPABILITIES},
    {"module.execute": (module_execute, FIELDS, starts_a_child)},
)
