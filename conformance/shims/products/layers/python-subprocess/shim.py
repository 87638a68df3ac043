"""A shim for subprocess.run, with its options for a timeout, a process group and captured
output."""

import os
import platform
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import wire

ABOUT = {"name": "subprocess.run", "version": platform.python_version(), "language": "Python"}
FIELDS = {"program", "args", "current_dir", "stdin", "env", "timeout_ms"}
CAPABILITY = {
    "max_output_bytes": "exec.cap",
    "stdin_failure": "exec.stdin_failure",
    "sandbox": "exec.sandbox",
    "backend": "exec.backend",
}


def run(message):
    request = message["request"]
    wire.only(message, {"id", "op", "request", "hold"}, CAPABILITY)
    if request.pop("debug", False):
        raise wire.Unsupported("exec.debug")
    if request.get("stdin_failure") == "error":
        del request["stdin_failure"]
    wire.only(request, FIELDS, CAPABILITY)
    stdin, env = request.get("stdin", "inherit"), request.get("env", "inherit")
    given = {"stdin": subprocess.DEVNULL if stdin == "null" else None}
    if isinstance(stdin, dict):
        given = {"input": wire.take(stdin, "bytes")}
    started = time.monotonic_ns()
    try:
        done = subprocess.run(
            [wire.take(request, "program"), *wire.take(request, "args", [])],
            cwd=wire.take(request, "current_dir"),
            env=None if env == "inherit" else dict(wire.take(env, "clear_and_set")),
            timeout=request["timeout_ms"] / 1000 if "timeout_ms" in request else None,
            capture_output=True,
            process_group=0,
            **given,
        )
        out, err, code = done.stdout, done.stderr, done.returncode
    except subprocess.TimeoutExpired as late:
        # Report the library's exception as a deadline of the protocol, with its annotation in
        # stderr.
        err = late.stderr or b""
        out, err, code = late.stdout or b"", err + b"\n" * bool(err) + b"process timed out", None
    except (OSError, ValueError) as why:
        return {"error": {"kind": "execution", "message": f"failed to spawn: {why}"}}
    except OverflowError as why:  # the clock of the library overflows after it has killed the child
        return {"error": {"kind": "execution", "message": str(why)}}
    return {
        "result": {
            "success": code == 0,
            "stdout": wire.stream(out),
            "stderr": wire.stream(err),
            "exit_code": code if code is not None and code >= 0 else None,
            "duration_ms": (time.monotonic_ns() - started) // 10**6,
            "output": None,
        }
    }


wire.main(
    ABOUT,
    ["exec", "exec.bytes"],
    {"exec.run": run},
    run_only=["exec.run"],
    # The library has no grace period: at a deadline it sends SIGKILL. These are the values of the
    # contract, so that tests which scale with them can run.
    constants={"grace_ms": 5000, "tick_ms": 100},
)
