"""FILL IN: one handle of your implementation. Each method takes a step and returns its result."""

import hashlib
import os
import subprocess
from base64 import b64encode

from groups import end, kill_group
from writing import write

from protocol import Failed, content, refuse_others

NAMES = ("stdin", "stdout", "stderr")
MODES = {0: None, 1: subprocess.PIPE, 2: subprocess.DEVNULL}


class Handle:
    def __init__(self, asked):
        self.asked, self.child, self.owned = asked, None, set()

    def open(self, step):
        request = self.asked["request"]
        refuse_others(request, {"program", "args", "current_dir", "env"}, "process")
        modes = {name: self.asked.get(name, 1) for name in NAMES}
        if set(modes.values()) - set(MODES):
            raise Failed("invalid_input", f"a stream mode is 0, 1 or 2: {modes}")
        env = request.get("env", "inherit")
        self.child = subprocess.Popen(
            [request["program"], *request.get("args", [])],
            cwd=request.get("current_dir"),
            env=None if env == "inherit" else dict(env["clear_and_set"]),
            **{"process_group": 0, "bufsize": 0},
            **{name: MODES[mode] for name, mode in modes.items()},
        )
        self.owned = {name for name, mode in modes.items() if mode == 1}
        for name in self.owned if self.asked.get("nonblocking") else ():
            os.set_blocking(getattr(self.child, name).fileno(), False)
        return {"pid": self.child.pid}

    def streams(self, step):
        return {name: name in self.owned for name in NAMES}

    def take(self, step):
        before, self.owned = self.owned, self.owned - {step.get("stream", "stdin")}
        return {"taken": before != self.owned}

    def write(self, step):
        return write(self.child.stdin, content(step, "data"))

    def read_until(self, step):
        stream, end, data = getattr(self.child, step["stream"]), content(step, "until"), b""
        while not data.endswith(end):
            if not (byte := stream.read(1)):
                break
            data += byte
        return {"data_b64": b64encode(data).decode(), "eof": not data.endswith(end)}

    def read_eof(self, step):
        data = b"".join(iter(lambda: getattr(self.child, step["stream"]).read(1 << 16), b""))
        whole = {"data_b64": b64encode(data).decode()} if len(data) <= 1 << 16 else {}
        return whole | {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}

    def close_stdin(self, step):
        self.child.stdin.close()
        return {}

    def poll(self, step):
        return self.wait({"timeout_ms": 0})

    def wait(self, step):
        if "timeout_ms" not in step and "stdin" in self.owned:
            self.child.stdin.close()
        return end(self.child, step["timeout_ms"] / 1000 if "timeout_ms" in step else None)

    def terminate(self, step):
        self.child.terminate()
        return {}

    def kill(self, step):
        self.child.kill()
        return {}

    def close(self, step):
        child = self.child  # `drop` in another thread resets the handle
        child.terminate()
        if "running" in end(child, step.get("grace_ms", 5000) / 1000):
            child.kill()
        self.owned.clear()
        return end(child) | {"detached_writers": False}

    def drop(self, step):
        if self.child:
            kill_group(self.child.pid)
            self.child.wait()
        self.__init__(self.asked)
        return {}
