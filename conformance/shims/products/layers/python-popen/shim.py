"""A shim for subprocess.Popen as a process handle. It refuses operations that Popen lacks."""

import os
import platform
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import script
import wire
from script import Refused

ABOUT = {"name": "subprocess.Popen", "version": platform.python_version(), "language": "Python"}
MODES = {0: None, 1: subprocess.PIPE, 2: subprocess.DEVNULL}


class Library:
    def open(self, request, modes):
        if not all(mode in MODES for mode in modes):
            raise Refused("a stream is None, PIPE or DEVNULL")
        env = request.get("env", "inherit")
        stdin, stdout, stderr = (MODES[mode] for mode in modes)
        try:
            return subprocess.Popen(
                [wire.take(request, "program"), *wire.take(request, "args", [])],
                bufsize=0,
                cwd=wire.take(request, "current_dir"),
                env=None if env == "inherit" else dict(wire.take(env, "clear_and_set")),
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                process_group=0,
            )
        except (OSError, ValueError) as why:
            raise OSError(f"failed to spawn: {why}") from None

    def wait(self, process, timeout_ms):
        if timeout_ms == 0:
            code = process.poll()
            return {"running": True} if code is None else script.ended(code)
        try:
            return script.ended(process.wait(None if timeout_ms is None else timeout_ms / 1000))
        except subprocess.TimeoutExpired:
            return {"running": True}

    def terminate(self, process):
        process.terminate()

    def kill(self, process):
        process.kill()

    def close(self, process, grace_ms):
        raise Refused("a Popen has nothing that ends it in order")

    def drop(self, process):
        """Drop the last reference. The library has no other way to release a process."""


script.main(ABOUT, Library())
