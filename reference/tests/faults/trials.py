"""The requests of the trials, the calls that fail, and the errors they fail with."""

from __future__ import annotations

import errno
import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# In the order of `enum kind` in preload.c. An error that a correct program may treat as a regular
# result is left out, for example ENOENT of a stat or EPIPE of a write.
KINDS: dict[str, tuple[int, ...]] = {
    "memory": (errno.ENOMEM,),
    "open": (errno.EMFILE, errno.EACCES, errno.EINTR, errno.ENOMEM),
    "read": (errno.EIO, errno.EINTR, errno.EAGAIN),
    "write": (errno.EIO, errno.ENOSPC, errno.EINTR),
    "close": (errno.EIO, errno.EINTR),
    "pipe": (errno.EMFILE, errno.ENFILE),
    "poll": (errno.ENOMEM, errno.EINTR),
    "start": (errno.EAGAIN, errno.ENOMEM),
    "wait": (errno.ECHILD, errno.EINTR),
    "kill": (errno.EPERM,),
    "numbered": (errno.ENOSYS, errno.EPERM, errno.EMFILE, errno.EINVAL),
    "fcntl": (errno.EMFILE, errno.EPERM),
    "stat": (errno.EACCES, errno.EIO, errno.ENOMEM),
    "link": (errno.EACCES, errno.EIO, errno.ENOMEM),
    "folder": (errno.EACCES, errno.EIO, errno.ENOMEM),
    "make": (errno.ENOSPC, errno.EACCES),
    "rename": (errno.ENOSPC, errno.EIO),
    "remove": (errno.EIO, errno.EBUSY),
    "mode": (errno.EPERM, errno.EIO),
    "thread": (errno.EAGAIN, errno.ENOMEM),
    "signals": (errno.EINVAL, errno.EPERM),
    "group": (errno.EPERM, errno.EACCES),
    "prctl": (errno.EINVAL, errno.EPERM),
    "access": (errno.EACCES, errno.EIO, errno.EPERM),
}
NAMES = list(KINDS)
TOLD = struct.Struct(f"={len(KINDS)}I II i I I i I")


@dataclass(frozen=True)
class State:
    """The state that the library left: see struct state in preload.c."""

    calls: dict[str, int]
    struck: bool
    ended: bool
    unfreed: int
    open: int

    @staticmethod
    def read(path: Path) -> State:
        values = TOLD.unpack(path.read_bytes())
        calls = dict(zip(NAMES, values, strict=False))
        _, _, _, struck, ended, unfreed, opened = values[len(KINDS) :]
        return State(calls, bool(struck), bool(ended), unfreed, opened)


@dataclass(frozen=True, order=True)
class Fault:
    """The nth call of a kind, counted from 1, fails with an error."""

    case: str
    kind: str
    nth: int
    error: int

    def packed(self) -> bytes:
        numbers = [0] * len(KINDS)
        return TOLD.pack(*numbers, NAMES.index(self.kind), self.nth, self.error, 0, 0, 0, 0)


NO_FAULT = TOLD.pack(*([0] * len(KINDS)), 0, 0, 0, 0, 0, 0, 0)

YAML = """schemaVersion: 2
kind: Policy
metadata: {name: p}
spec:
  denyRead: ["secret/**", "**/*.env"]
  denyModify: ["secret/**", "**/*.env", "s/**", "!s/c/**"]
  fsProfiles:
    writer: {read: ["**"], modify: ["src/**", "*.md"]}
"""
OVER = {"text": YAML.replace(', "!s/c/**"', ', "more/x"'), "format": "yaml"}
AS_JSON = {
    "schemaVersion": 2,
    "kind": "Policy",
    "metadata": {"name": "p"},
    "spec": {"denyRead": ["a*b*c*d", "lit/x"], "denyModify": ["a*b*c*d", "lit/x"]},
}
CHECKS = [
    {"op": "read", "path": "secret/key"},
    {"op": "modify", "path": "src/../src/a.c", "profile": "writer"},
    {"op": "modify", "path": "other", "profile": "writer"},
    {"op": "read", "path": "deep/prod.env"},
    {"op": "modify", "path": "s/c/x"},
    {"op": "read", "path": "gone/../../x"},
]


def shell(script: str, **more: Any) -> dict[str, Any]:
    return {"program": "sh", "args": ["-c", script], **more}


def cases(folder: str) -> dict[str, dict[str, Any]]:
    """Return the requests by name.

    folder: belongs to one trial; its `ws` is a workspace, and its `ext` has modules.
    """
    policy = {"text": YAML, "format": "yaml", "workspace": OVER}
    plain = {"text": json.dumps(AS_JSON), "format": "json"}
    hello = {"bytes": "hello\n"}
    both = shell("cat; head -c 300000 /dev/zero; echo err >&2; exit 3", stdin=hello)
    inherit = {"cleared": {"clear_and_set": [["PATH", "/usr/bin:/bin"], ["A_TOKEN", "x"]]}}
    # The substitution ends once the orphan has closed the pipes of the run.
    orphan = shell("x=$(sleep 60 2>/dev/null >/dev/null & echo left); echo $x", stdin="null")
    late = shell("sleep 60 & echo out; exec sleep 60", stdin="null", timeout_ms=60)
    steps = [
        {"handle": "a", "step": "open"},
        {"handle": "a", "step": "write", "data": "hi\n"},
        # Close before the first read, because a failed write also ends the output.
        {"handle": "a", "step": "close_stdin"},
        {"handle": "a", "step": "read_until", "stream": "stdout", "until": "\n"},
        {"handle": "a", "step": "wait"},
        {"handle": "b", "step": "open"},
        {"handle": "b", "step": "close", "grace_ms": 200},
    ]
    handles = {
        "a": {"request": {"program": "cat"}, "stderr": 2},
        "b": {"request": shell("sleep 60 & exec sleep 60"), "stderr": 2},
    }
    compile_from = {"root": "/Users/u/ws", "env": {"HOME": "/Users/u"}, "provider": "codex"}
    context = {"root": f"{folder}/ws", "profile": "repo-write"}
    module = {"op": "module.execute", "extensions_root": f"{folder}/ext", "timeout_ms": 20000}
    made: dict[str, dict[str, Any]] = {
        "exec.run": {"op": "exec.run", "request": both},
        "exec.run-orphan": {"op": "exec.run", "request": orphan},
        "exec.run-late": {"op": "exec.run", "request": late},
        "exec.run-capped": {
            "op": "exec.run",
            "request": shell("head -c 9000 /dev/zero; sleep 60", stdin="null")
            | {"max_output_bytes": 4000},
        },
        "exec.run-debug": {
            "op": "exec.run",
            "request": shell("echo $A_TOKEN", stdin="null", debug=True, env=inherit["cleared"])
            | {"current_dir": "/", "timeout_ms": 20000},
        },
        "exec.batch": {
            "op": "exec.batch",
            "runs": [
                {"after_ms": 0, "request": shell("cat", stdin=hello)},
                {"after_ms": 0, "request": late},
                {"after_ms": 0, "request": {"program": "no-such-program"}},
            ],
        },
        "exec.format_env": {"op": "exec.format_env", "env": inherit["cleared"]},
        "path.normalize": {"op": "path.normalize", "paths": ["./src//main.c", "../x", "e\u0301"]},
        "glob.match": {
            "op": "glob.match",
            "pattern": "**/a*b?c/**",
            "paths": ["x/aabxc/y", "aabxc", "x"],
            "case": "fold",
        },
        "policy.load": {"op": "policy.load", **policy},
        "policy.resolve": {"op": "policy.resolve", "policy": policy, "profile": "writer"},
        "policy.check": {"op": "policy.check", "policy": policy, "checks": CHECKS},
        "policy.check-json": {
            "op": "policy.check",
            "policy": plain,
            "case": "fold",
            "checks": [{"op": "read", "path": p} for p in ("aXbXcXd", "lit/x", "LIT/X/y", "free")],
        },
        "policy.check_resolved": {
            "op": "policy.check_resolved",
            "policy": policy,
            "root": f"{folder}/ws",
            "checks": [
                {"op": "read", "path": "link/key"},
                {"op": "read", "path": "plain"},
                {"op": "modify", "path": "out/x", "follow": "parent"},
            ],
        },
        "policy.explain": {"op": "policy.explain", "policy": policy, "checks": CHECKS},
        "policy.audit": {"op": "policy.audit", "policy": policy, "checks": CHECKS},
        "sbpl.compile": {
            "op": "sbpl.compile",
            "rules": {
                "read": ["**"],
                "modify": ["src/**", "!src/a?/**"],
                "denyRead": ["**/*.env", "keys/**"],
            },
            "side_roots": ["/Users/u/other"],
            "case": "fold",
            **compile_from,
        },
        "sbpl.compile-policy": {"op": "sbpl.compile", "policy": policy, **compile_from},
        "sbpl.wrap": {
            "op": "sbpl.wrap",
            "argv": ["gemini", "--sandbox", "-p", "hi"],
            "provider": "gemini",
            "text": "(version 1)\n",
            "dir": f"{folder}/tmp",
            "wrapper": "present",
        },
        "module.execute": {**module, "module_id": "echo", "input": {"text": ["hi", 1, None]}},
        "module.execute-fails": {**module, "module_id": "fails", "input": None},
        "process.script": {"op": "process.script", "handles": handles, "steps": steps},
        "process.bridge": {"op": "process.bridge", "request": shell("cat; exit 4")},
        "backend.probe": {"op": "backend.probe", "backend": "landlock", "profile": "repo-write"},
        "backend.run-script": {
            "op": "backend.run",
            "backend": "script",
            "script": {"place": f"{folder}/tmp/place", "prefix": ["env"]},
            "context": context,
            "calls": [{"request": shell("echo in", stdin="null")}],
        },
        "backend.run-landlock": {
            "op": "backend.run",
            "backend": "landlock",
            "on_unavailable": "degrade",
            "context": context,
            # The program makes no new file, so the files are the same whenever the program is
            # ended.
            "calls": [{"request": shell("echo in; echo x >>plain", stdin="null")}],
        },
        "backend.run-bubblewrap": {
            "op": "backend.run",
            "backend": "bubblewrap+seccomp",
            "on_unavailable": "degrade",
            "context": context | {"policy": policy | {"fs_profile": "writer"}},
            "calls": [{"request": shell("echo in", stdin="null")}],
        },
    }
    return {name: {"id": name, **request} for name, request in made.items()}


def furnish(folder: Path) -> None:
    """Make the files that the requests of a trial refer to."""
    for name in ("ws/secret", "ws/src", "ext", "tmp"):
        (folder / name).mkdir(parents=True)
    (folder / "ws/secret/key").write_text("k")
    (folder / "ws/plain").write_text("p")
    (folder / "ws/link").symlink_to("secret")
    (folder / "ws/out").symlink_to("/usr")
    for name, script in (("echo", "cat"), ("fails", "echo no >&2; exit 7")):
        module = folder / "ext" / name
        module.write_text(f"#!/bin/sh\n{script}\n")
        module.chmod(0o755)
