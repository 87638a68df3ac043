"""process.script and process.bridge, for shims in Python around a library.

The streams of the library must be file objects. A library is an object with `open(request, modes)`,
which returns a process with `pid`, and with `stdin`, `stdout` and `stderr` that are unbuffered
files or None. Its methods `wait`, `terminate`, `kill`, `close` and `drop` take that process. A
method raises Refused if the library lacks the operation.
"""

import errno
import hashlib
import os
import queue
import signal
import threading
from base64 import b64encode

import wire

STREAMS = ("stdin", "stdout", "stderr")
FIELDS = {"program", "args", "current_dir", "env"}
SHORT = 65536


class Refused(Exception):
    """Raised if the library lacks an operation or an option. The message names it."""


class Script:
    def __init__(self, message, library):
        self.handles, self.steps, self.library = message["handles"], message["steps"], library
        self.open, self.threads = {}, {}

    def run(self):
        results = [{} for _ in self.steps]
        for step, result in zip(self.steps, results, strict=True):
            name = step.get("thread")
            if step["step"] == "join":
                self.join(name)
            elif name is None:
                result.update(self.take(step))
            else:
                self.thread(name).put((step, result))
        for name in list(self.threads):
            self.join(name)
        for process in self.open.values():
            self.library.drop(process)
        return {"result": {"steps": results}}

    def thread(self, name):
        if name not in self.threads:
            todo = queue.SimpleQueue()
            worker = threading.Thread(target=self.work, args=[todo])
            worker.start()
            self.threads[name] = worker, todo
        return self.threads[name][1]

    def work(self, todo):
        for step, result in iter(todo.get, None):
            result.update(self.take(step))

    def join(self, name):
        worker, todo = self.threads.pop(name, (None, None))
        if worker:
            todo.put(None)
            worker.join()

    def take(self, step):
        try:
            return self.act(step)
        except Refused as why:
            return {"error": {"kind": "invalid_input", "message": str(why)}}
        except Exception as why:
            return {"error": {"kind": "execution", "message": f"{type(why).__name__}: {why}"}}

    def act(self, step):
        kind, name = step["step"], step.get("handle")
        if kind == "repeat":
            return self.repeat(step)
        if kind == "open":
            return {"pid": self.start(name).pid}
        if name not in self.open:
            raise Refused("the handle is not open")
        process = self.open.pop(name) if kind == "drop" else self.open[name]
        stream = getattr(process, step.get("stream", "stdin"))
        match kind:
            case "streams":
                files = {each: getattr(process, each) for each in STREAMS}
                return {each: bool(file and not file.closed) for each, file in files.items()}
            case "take":  # the stream remains an attribute of the process
                return {"taken": stream is not None}
            case "write":
                return write(stream, wire.take(step, "data"))
            case "read_until":
                return read_until(stream, wire.take(step, "until"))
            case "read_eof":
                return read_eof(stream)
            case "close_stdin":
                return process.stdin.close() or {}
            case "poll":
                return self.library.wait(process, 0)
            case "wait":
                return self.library.wait(process, step.get("timeout_ms"))
            case "close":
                return self.library.close(process, step.get("grace_ms", 5000))
        return getattr(self.library, kind)(process) or {}

    def start(self, name):
        if name in self.open:
            raise Refused("the handle is open; drop it first")
        handle = self.handles[name]
        modes = [handle.get(each, 1) for each in STREAMS]
        extra = [each for each in handle["request"] if each.removesuffix("_b64") not in FIELDS]
        if extra or handle.get("nonblocking"):
            raise Refused(f"no option of it: {', '.join(extra) or 'nonblocking'}")
        self.open[name] = self.library.open(handle["request"], modes)
        return self.open[name]

    def repeat(self, step):
        last = []
        for count in range(step["count"]):
            last = []
            for each in step["steps"]:
                last.append(self.take(each))
                if "error" in last[-1]:
                    return {"repeated": count, "last": last}
        return {"repeated": step["count"], "last": last}


def write(stream, data):
    written = 0
    try:
        while written < len(data):
            written += stream.write(data[written:])
    except OSError as why:
        return {"written": written, "errno": errno.errorcode[why.errno]}
    return {"written": written}


def read_until(stream, until):
    data = b""
    while not data.endswith(until):
        byte = stream.read(1)
        if not byte:
            return {"data_b64": b64encode(data).decode(), "eof": True}
        data += byte
    return {"data_b64": b64encode(data).decode(), "eof": False}


def read_eof(stream):
    digest, data, length = hashlib.sha256(), b"", 0
    while piece := stream.read(SHORT):
        digest.update(piece)
        length += len(piece)
        data = data + piece if length <= SHORT else b""
    result = {"bytes": length, "sha256": digest.hexdigest()}
    return result | ({"data_b64": b64encode(data).decode()} if length <= SHORT else {})


def ended(code):
    """Return the result for a return code. The code is negative after a signal."""
    return {"signaled": signal.Signals(-code).name} if code < 0 else {"exited": code}


def bridge(message, library):
    """Copy each stream in a thread, because no library here has its own bridge."""
    try:
        process = library.open(message["request"], [1, 1, 1])
    except Exception as why:
        return {"error": {"kind": "execution", "message": str(why)}}
    pairs = [
        (0, process.stdin.fileno()),
        (process.stdout.fileno(), 1),
        (process.stderr.fileno(), 2),
    ]
    relays = [threading.Thread(target=copy, args=pair, daemon=True) for pair in pairs[1:]]
    threading.Thread(target=feed, args=[process], daemon=True).start()
    for relay in relays:
        relay.start()
    for relay in relays:
        relay.join()
    return {"result": library.wait(process, None)}


def feed(process):
    copy(0, process.stdin.fileno())
    process.stdin.close()


def copy(source, target):
    try:
        while piece := os.read(source, SHORT):
            while piece:
                piece = piece[os.write(target, piece) :]
    except OSError:
        pass  # the reader has closed its end of the pipe


def main(about, library):
    wire.main(
        about,
        ["process"],
        {
            "process.script": lambda message: Script(message, library).run(),
            "process.bridge": lambda message: bridge(message, library),
        },
        run_only=["process.script", "process.bridge"],
    )
