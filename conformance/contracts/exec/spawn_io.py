"""What the tests of spawning and of the streams share: outcomes in words, tools, patterns."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from boxspec.api import Answer, Blocked, Box, Failure, HostLacks, Told
from boxspec.api import programs as P
from contracts.shared.runs import RunAnswer

Seen = TypeVar("Seen", bound=Answer)

# Its words tell whoever reads one such failure alone what his error lacks.
SPAWN_FAILURE = "a spawn failure (`failed to spawn …`)"
SH = "/bin/sh"


def error_of(seen: Answer) -> dict[str, Any]:
    """The error of a run, empty where it has a result."""
    return dict((seen.raw or {}).get("error", {}))


def outcome(seen: Answer) -> str:
    """How a run ended, in words that can be compared: a spawn failure is told by its text."""
    error = error_of(seen)
    if not error:
        code = seen.result["exit_code"]
        return Told("no exit code" if code is None else f"exit {code}", seen)
    if error["kind"] == "execution" and "failed to spawn" in error["message"]:
        return Told(SPAWN_FAILURE, seen)
    return Told(f"error {error['kind']}: {error['message']}", seen)


def of_another_user(seen: Seen) -> Seen:
    """The run of a shim that was started as one."""
    if seen.raw is None:
        raise HostLacks("other users", "the shim does not start as another user here")
    return seen


def message(seen: Answer) -> str:
    return str(error_of(seen).get("message", ""))


# What a printf makes of a string that is not there, in several languages.
NONES = ("(null)", ": None", "<nil>", "undefined", "nullptr")


# What another C library says, where that differs: of a shim, or of the Python that runs this.
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
    """Whether a message names this errno, in words or by its symbol, and nothing that is none."""
    if any(none in text for none in NONES):
        return False
    words = (os.strerror(number).lower(), *OTHER_WORDS.get(number, ()))
    return any(each in text.lower() for each in words) or errno.errorcode[number] in text


def without_an_end(events: str, data: bytes) -> dict[str, Any]:
    """Writes this and exits; who left its group holds its stdout, which comes to no end."""
    line = '"$1" --out "$2"; exec "$3" "$4" --setsid --keep out'
    return shell(line, P.emit, data.hex(), P.orphan, events)


def left_by_child(path: Path) -> bytes:
    """What a child wrote to a file; that there is none says that it did not run."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise Failure("the child does its work", f"the file {path.name}", "no such file") from None


def report(box: Box, **run: Any) -> dict[str, Any]:
    """What the child says about itself: the program `report` run with these fields."""
    place = box.tmp / "report.json"
    box.exec.run(program=P.report, args=[str(place)], **run).result  # noqa: B018 - an error fails
    return reported(place)


def reported(place: Path) -> dict[str, Any]:
    """The report that a child left there."""
    said: dict[str, Any] = json.loads(left_by_child(place))
    return said


def fd_of(said: Mapping[str, Any], number: int) -> dict[str, Any]:
    """One descriptor of a report, empty where the child does not have it."""
    return next((each for each in said["fds"] if each["fd"] == number), {})


def pattern(size: int, first: str = "a") -> bytes:
    """The bytes that `flood` writes: 23 letters by offset, from 'a' or from 'A'."""
    letters = bytes(ord(first) + i for i in range(23))
    return (letters * (size // 23 + 1))[:size]


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def hash_line(data: bytes) -> bytes:
    """What hash-stdin prints after reading exactly these bytes."""
    return f"{len(data)} {sha(data)}\n".encode()


def stream(seen: RunAnswer, name: str) -> tuple[int, str]:
    """Length and digest of a captured stream, short or long."""
    data = (getattr(seen, f"{name}_len"), getattr(seen, f"{name}_sha256"))
    return int(data[0]), str(data[1])


def digest(data: bytes) -> tuple[int, str]:
    return len(data), sha(data)


def shell(line: str, *words: Any) -> dict[str, Any]:
    """program and args of `sh -c line` with $1, $2, …"""
    return {"program": SH, "args": ["-c", line, "sh", *map(str, words)]}


def hexes(data: bytes, *, flag: str = "--out", piece: int = 16384) -> list[str]:
    """Arguments of `emit` for these bytes, cut below the limit of one argument."""
    parts: Sequence[bytes] = [data[i : i + piece] for i in range(0, len(data), piece)]
    return [word for part in parts for word in (flag, part.hex())]


def needs_replaced_environment(box: Box) -> None:
    """Tests of the search through PATH need a child whose PATH they decide."""
    names = report(box, env=[("ONLY", "1")])["env_b64"]
    if len(names) != 1 + len(box.exec.inside.added):
        raise Blocked(["EXEC-ENV-02"], "clear_and_set leaves other variables")
