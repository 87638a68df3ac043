#!/usr/bin/env python3
"""A shim for boxspec. Four places say FILL IN: name, capabilities, constants, how to run.

Until you fill them in, subprocess.run runs the programs. It lacks part of EXEC-SPAWN, CHILD, STDIN,
TIMEOUT, KILL, ORPHAN, WAIT and SIGNAL: the failures of these topics are yours to fix.
"""

import hashlib
import json
import os
import subprocess
import sys
import time
from base64 import b64encode

# FILL IN: the name and version of your implementation.
ABOUT = {"name": "my-implementation", "version": "0.1", "language": "Python"}
# FILL IN: its capabilities, by their names in shim-protocol.md. All others are refused.
CAPABILITIES = ["exec"]
FIELDS = {"program", "args", "current_dir", "stdin", "env", "timeout_ms"}


def run(request):
    """FILL IN: one run of one program by your implementation."""
    stdin, env = request.get("stdin", "inherit"), request.get("env", "inherit")
    given = {"stdin": subprocess.DEVNULL if stdin == "null" else None}
    if isinstance(stdin, dict):
        given = {"input": stdin["bytes"].encode()}
    started = time.monotonic()
    try:
        done = subprocess.run(
            [request["program"], *request.get("args", [])],
            cwd=request.get("current_dir"),
            env=None if env == "inherit" else dict(env["clear_and_set"]),
            timeout=request["timeout_ms"] / 1000 if "timeout_ms" in request else None,
            capture_output=True,
            **given,
        )
        out, err, code = done.stdout, done.stderr, done.returncode
    except subprocess.TimeoutExpired as late:
        out, err, code = late.stdout or b"", late.stderr or b"", None
    except OSError as why:
        return {"error": {"kind": "execution", "message": str(why)}}
    return {
        "result": {
            "success": code == 0,
            "stdout": stream(out),
            "stderr": stream(err),
            "exit_code": code if code is not None and code >= 0 else None,
            "duration_ms": int((time.monotonic() - started) * 1000),
            "output": None,
        }
    }


def stream(data):
    """Return the text of a stream, or its digest if it has more than 1 MiB."""
    text = data.decode("utf-8", "replace")
    raw = text.encode()
    if len(raw) <= 1 << 20:
        return text
    ends = {"head_b64": raw[:4096], "tail_b64": raw[-4096:]}
    digest = {"bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}
    return digest | {name: b64encode(end).decode() for name, end in ends.items()}


def answer(message, serving):
    op = message["op"]
    if op == "hello":
        said = {"protocol": 1, "nonce": message["nonce"], "pid": os.getpid()}
        said |= {"implementation": ABOUT, "capabilities": CAPABILITIES}
        # FILL IN: the grace period after SIGTERM, and the interval of your checks.
        return {"result": said | {"constants": {"grace_ms": 5000, "tick_ms": 100}}}
    if op == "bye":
        return {"result": {}}
    more = (message.keys() - {"id", "op", "hold", "request"}) | (
        message.get("request", {}).keys() - FIELDS
    )
    if op != "exec.run" or more:
        return {"unsupported": {"capability": op, "why": f"not in this shim: {sorted(more) or op}"}}
    if serving:
        return {"error": {"kind": "invalid_input", "message": "programs are run in run mode"}}
    return run(message["request"])


if sys.argv[1] == "serve":
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps({"id": asked["id"], **answer(asked, True)}), flush=True)
        if asked["op"] == "bye":
            break
else:
    with open(sys.argv[2], encoding="utf-8") as file:
        asked = json.load(file)
    with open(sys.argv[3] + ".new", "w", encoding="utf-8") as file:
        json.dump({"id": asked["id"], **answer(asked, False)}, file)
    os.replace(file.name, sys.argv[3])  # atomic, so that a reader never sees part of an answer
    if "hold" in asked:
        open(asked["hold"], "rb").read()
