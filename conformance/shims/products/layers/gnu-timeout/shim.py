"""A shim for GNU timeout, which runs the program. Python's subprocess provides the pipes.

According to the manual, a duration of 0 disables the timeout. Status 124 means a deadline, and 137
a deadline after which KILL was sent. Statuses 125 to 127 are errors of timeout itself.
"""

import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import wire

PROGRAM = shutil.which("timeout")
FIELDS = {"program", "args", "current_dir", "stdin", "env", "timeout_ms"}
CAPABILITY = {
    "max_output_bytes": "exec.cap",
    "stdin_failure": "exec.stdin_failure",
    "sandbox": "exec.sandbox",
    "backend": "exec.backend",
}
TROUBLE = b"timeout: "


def version():
    said = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True).stdout
    return said.partition("\n")[0].rpartition(" ")[2]


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
    milliseconds = request.get("timeout_ms", 0)
    seconds = f"{milliseconds // 1000}.{milliseconds % 1000:03}"
    command = [wire.take(request, "program"), *wire.take(request, "args", [])]
    started = time.monotonic_ns()
    try:
        done = subprocess.run(
            ["timeout", "--kill-after=5", seconds, *command],
            executable=PROGRAM,
            close_fds=False,
            cwd=wire.take(request, "current_dir"),
            env=None if env == "inherit" else dict(wire.take(env, "clear_and_set")),
            capture_output=True,
            **given,
        )
    except (OSError, ValueError) as why:
        return {"error": {"kind": "execution", "message": f"failed to spawn: {why}"}}
    code, err = done.returncode, done.stderr
    if code in (125, 126, 127) and err.startswith(TROUBLE):
        said = err.decode("utf-8", "replace").strip()
        return {"error": {"kind": "execution", "message": f"failed to spawn: {said}"}}
    late = code == 124 or (code == -9 and milliseconds > 0)
    if late:
        err += b"\n" * bool(err) + b"process timed out"
    return {
        "result": {
            "success": code == 0,
            "stdout": wire.stream(done.stdout),
            "stderr": wire.stream(err),
            "exit_code": code if code >= 0 and not late else None,
            "duration_ms": (time.monotonic_ns() - started) // 10**6,
            "output": None,
        }
    }


if sys.argv[1] == "version":
    print(version())
else:
    wire.main(
        lambda: {"name": "timeout", "version": version(), "language": "C"},
        ["exec", "exec.bytes"],
        {"exec.run": run},
        run_only=["exec.run"],
        # 5,000 is the value of --kill-after. timeout does not check at intervals, so tick_ms has
        # the value of the contract.
        constants={"grace_ms": 5000, "tick_ms": 100},
    )
