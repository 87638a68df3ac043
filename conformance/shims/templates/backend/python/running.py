"""One run of one command, answered as `exec.run` does. This file needs no change."""

import hashlib
import os
import signal
import subprocess
import time
from base64 import b64encode

from protocol import content


def stream(data):
    """Return the text of a stream, or its digest if it has more than 1 MiB."""
    text = data.decode("utf-8", "replace")
    raw = text.encode()
    if len(raw) <= 1 << 20:
        return text
    ends = {"head_b64": raw[:4096], "tail_b64": raw[-4096:]}
    digest = {"bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}
    return digest | {name: b64encode(end).decode() for name, end in ends.items()}


def run(request, argv, cwd, env):
    stdin, limit = request.get("stdin", "inherit"), request.get("timeout_ms")
    data = content(stdin, "bytes") if isinstance(stdin, dict) else None
    if stdin == "inherit" and os.path.isfile("/proc/self/fd/0"):
        # A program could open the file again for writing through /proc, although it lies outside
        # the sandbox. So the program gets the content through a pipe.
        with open(0, "rb", closefd=False) as file:
            stdin, data = None, file.read()
    source = {"null": subprocess.DEVNULL, "inherit": None}.get(str(stdin), subprocess.PIPE)
    pipes = {"stdin": source, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    started = time.monotonic()
    try:
        child = subprocess.Popen(argv, cwd=cwd, env=env, process_group=0, **pipes)
    except OSError as why:
        message = f"failed to spawn `{argv[0]}`: {why.strerror}"
        return {"error": {"kind": "execution", "message": message}}
    try:
        out, err = child.communicate(data, limit / 1000 if limit is not None else None)
        code = child.returncode if child.returncode >= 0 else None
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
        code = None
    return {
        "result": {
            "success": code == 0,
            "stdout": stream(out),
            "stderr": stream(err),
            "exit_code": code,
            "duration_ms": int((time.monotonic() - started) * 1000),
            "output": None,
        }
    }
