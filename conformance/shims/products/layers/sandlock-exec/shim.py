"""A shim for sandlock's Sandbox.popen as a process handle. It refuses operations that sandlock
lacks.

The shim permits all accesses that sandlock can permit: reading and writing all files, and reaching
all ports. Any other effect of the sandbox counts as behaviour of the library.
"""

import importlib.metadata
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import script
import wire
from sandlock import ExitReason, Sandbox, StdioMode
from script import Refused

ABOUT = {
    "name": "sandlock",
    "version": importlib.metadata.version("sandlock"),
    "language": "Python, over Rust",
}
EVERYTHING = {
    "fs_readable": ["/"],
    "fs_writable": ["/"],
    "net_allow": ["tcp://*:*", "udp://*:*"],
    "net_allow_bind": ["*"],
}


class Library:
    def open(self, request, modes):
        if not all(mode in list(StdioMode) for mode in modes):
            raise Refused("a stream is INHERIT, PIPED or NULL")
        if request.get("env", "inherit") != "inherit":
            # clean_env starts "with minimal environment". This environment is not empty.
            raise Refused("the environment cannot be replaced as a whole")
        command = [wire.take(request, "program"), *wire.take(request, "args", [])]
        folder = wire.take(request, "current_dir")
        sandbox = Sandbox(**EVERYTHING, cwd=folder and os.fsdecode(folder))
        try:
            return sandbox.popen([os.fsdecode(word) for word in command], *modes)
        except (RuntimeError, ValueError) as why:
            raise OSError(f"failed to spawn: {why}") from None

    def wait(self, process, timeout_ms):
        if timeout_ms == 0 and process.pid is not None:
            # the documentation says: "the child PID while running, else None"
            return {"running": True}
        # The documentation says: "On timeout the child is killed". So a wait with a limit always
        # kills at the limit.
        result = process.wait(timeout_ms and timeout_ms / 1000)
        if result.reason == ExitReason.EXITED:
            return script.ended(result.exit_code)
        # The documentation says: "Linux bottoms both a timeout and an OOM kill out in SIGKILL". So
        # the two look equal here.
        by_signal = result.reason == ExitReason.SIGNALED
        return script.ended(-result.signal if by_signal else -signal.SIGKILL)

    def terminate(self, process):
        raise Refused("there is kill, and no SIGTERM")

    def kill(self, process):
        process.kill()

    def close(self, process, grace_ms):
        raise Refused("nothing ends it in order; leaving the context manager kills")

    def drop(self, process):
        """Leave the context manager."""
        process.__exit__(None, None, None)


script.main(ABOUT, Library())
