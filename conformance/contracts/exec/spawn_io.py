"""Describe outcomes in words, and make commands and byte patterns.

The tests of spawning and of streams use these functions.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, Unpack

from boxspec.api import Answer, AnswerText, Blocked, Failure, HostLacks, written
from boxspec.api import programs as P
from contracts.exec.client import ExecCase, RunOptions
from contracts.shared.requests import Command, ExecRequest
from contracts.shared.runs import RunAnswer

Seen = TypeVar("Seen", bound=Answer)

# This text also quotes the required message, because the report shows only one failure of this
# kind.
SPAWN_FAILURE = "a spawn failure (`failed to spawn …`)"
SH = "/bin/sh"


def error_of(seen: Answer) -> dict[str, Any]:
    """Return the error of a run; empty if there is a result."""
    return dict((seen.raw or {}).get("error", {}))


def outcome(seen: Answer) -> str:
    """Return the outcome of a run as a text.

    Two outcomes are equal if their texts are equal. A spawn failure is recognised by its message.
    """
    error = error_of(seen)
    if not error:
        code = seen.result["exit_code"]
        return AnswerText("no exit code" if code is None else f"exit {code}", seen)
    if error["kind"] == "execution" and "failed to spawn" in error["message"]:
        return AnswerText(SPAWN_FAILURE, seen)
    return AnswerText(f"error {error['kind']}: {error['message']}", seen)


def of_another_user(seen: Seen) -> Seen:
    """Return the answer; raise HostLacks if the shim could not be started as another user."""
    if seen.raw is None:
        raise HostLacks("other users", "the shim does not start as another user here")
    return seen


def message(seen: Answer) -> str:
    return str(error_of(seen).get("message", ""))


# Texts that formatting functions of several languages write for a missing string.
NONES = ("(null)", ": None", "<nil>", "undefined", "nullptr")


# Further texts for an errno: the C library of the shim may have another text than that of this
# Python.
OTHER_WORDS = {
    errno.EIO: ("input/output error", "i/o error"),
    errno.ECHILD: ("no child process",),
    errno.ENOMEM: ("cannot allocate memory", "out of memory"),
    errno.EBUSY: ("resource busy",),
    errno.EMFILE: ("too many open files", "no file descriptors available"),
    errno.ELOOP: ("too many levels of symbolic links", "symbolic link loop"),
    errno.ENAMETOOLONG: ("file name too long", "filename too long"),
}


def names_reason(number: int, text: str) -> bool:
    """True if a message names this errno by a text or by its symbol, and contains none of NONES."""
    if any(none in text for none in NONES):
        return False
    words = (os.strerror(number).lower(), *OTHER_WORDS.get(number, ()))
    return any(each in text.lower() for each in words) or errno.errorcode[number] in text


def without_an_end(events: str, data: bytes) -> Command:
    """Return a request that writes `data` and exits while a process outside the group keeps stdout
    open."""
    line = '"$1" --out "$2"; exec "$3" "$4" --setsid --keep out'
    return shell(line, P.emit, data.hex(), P.orphan, events)


def left_by_child(path: Path) -> bytes:
    """Return the content of a file that a child has written.

    If the file is missing, the child did not run, and the test fails.
    """
    try:
        return written(path)
    except FileNotFoundError:
        raise Failure("the child does its work", f"the file {path.name}", "no such file") from None


def report(case: ExecCase, **run: Unpack[RunOptions]) -> dict[str, Any]:
    """Run the program `report` with these fields, and return its report about itself."""
    place = case.tmp / "report.json"
    command: RunOptions = {"program": P.report, "args": [str(place)]}
    case.exec.run(**(command | run)).result  # noqa: B018 - an error fails
    return reported(place)


def reported(place: Path) -> dict[str, Any]:
    """Return the report that a child wrote to a file."""
    found: dict[str, Any] = json.loads(left_by_child(place))
    return found


def fd_of(found: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return the part of a report about one descriptor; empty if the child does not have it."""
    return next((each for each in found["fds"] if each["fd"] == number), {})


def pattern(size: int, first: str = "a") -> bytes:
    """Return the bytes that `flood` writes: 23 letters in a cycle, from 'a' or from 'A'."""
    letters = bytes(ord(first) + i for i in range(23))
    return (letters * (size // 23 + 1))[:size]


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def hash_line(data: bytes) -> bytes:
    """Return the line that hash-stdin prints after it read exactly these bytes."""
    return f"{len(data)} {sha(data)}\n".encode()


def stream(seen: RunAnswer, name: str) -> tuple[int, str]:
    """Return length and digest of a captured stream."""
    data = (getattr(seen, f"{name}_len"), getattr(seen, f"{name}_sha256"))
    return int(data[0]), str(data[1])


def digest(data: bytes) -> tuple[int, str]:
    return len(data), sha(data)


def shell(line: str, *words: Any) -> Command:
    """Return program and args of `sh -c line` with $1, $2, …"""
    return {"program": SH, "args": ["-c", line, "sh", *map(str, words)]}


# Sizes near the size of a page, of a pipe, and of the longest text that an answer contains in full.
STDERR_SIZES = (4096, 65_535, 65_537, 2**20, 2**20 + 1, 5_000_000)


def writes_zeros(size: int, events: object) -> Command:
    """Return a command that writes this many NUL bytes to stderr, logs `ready`, and runs on."""
    line = 'head -c "$1" /dev/zero >&2; exec "$2" "$3" 60000'
    return shell(line, size, P.slow_exit, events)


def shell_request(line: str, *words: Any) -> ExecRequest:
    """Return the command of `shell` as a request, to which `|` can add further fields."""
    return {"program": SH, "args": ["-c", line, "sh", *map(str, words)]}


def hexes(data: bytes, *, flag: str = "--out", piece: int = 16384) -> list[str]:
    """Return the arguments that make the program `emit` write these bytes.

    Each argument is shorter than the limit for an argument.
    """
    parts: Sequence[bytes] = [data[i : i + piece] for i in range(0, len(data), piece)]
    return [word for part in parts for word in (flag, part.hex())]


def needs_replaced_environment(case: ExecCase) -> None:
    """Raise Blocked if clear_and_set does not replace the environment, because the test needs its
    own PATH."""
    names = report(case, env=[("ONLY", "1")])["env_b64"]
    if len(names) != 1 + len(case.exec.inside.added):
        raise Blocked(
            ["EXEC-ENV-02"], "the environment has variables that clear_and_set does not name"
        )
