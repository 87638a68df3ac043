"""Files about earlier runs of a shim, for `run --last-failed` and for estimates of the time
left."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from boxspec.errors import UsageError
from boxspec.places import cache
from boxspec.report.output_file import replace_file
from boxspec.report.progress import Durations, Pace

# Durations of the reference on two processors. They are used for the first run of a shim.
REFERENCE = Path(__file__).with_name("durations.json")
# A shorter run does not change the stored duration and course.
MIN_S = 10.0
# The course of the reference fits a run of at least this share of all tests.
MOST = 0.8
# For how many numbers of tests the duration and the course are kept.
RUNS = 8


def read(kind: str, argv: Sequence[str]) -> Any:
    """Return the content of the file of this kind for this shim.

    Return None if there is no such file, or if it cannot be read.
    """
    try:
        return json.loads(_file(kind, argv).read_text(encoding="utf-8"))
    except (OSError, ValueError, UsageError):
        return None


def write(kind: str, argv: Sequence[str], content: object) -> None:
    """Replace a file, or remove it if the content is empty."""
    # A failure to write this file must not make the run fail.
    with contextlib.suppress(OSError, UsageError):
        file = _file(kind, argv)
        if content:
            file.parent.mkdir(parents=True, exist_ok=True)
            replace_file(file, json.dumps(content) + "\n")
        else:
            file.unlink(missing_ok=True)


def _file(kind: str, argv: Sequence[str]) -> Path:
    # ./mine/shim.py and, from another folder, ../mine/shim.py are one shim.
    words = [os.path.realpath(word) if word.startswith("/") else word for word in argv]
    name = hashlib.sha256("\0".join(words).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return cache() / kind / f"{name}.json"


def durations(argv: Sequence[str], tests: int) -> Durations:
    """Return the durations of the last runs of this shim, or else of the reference.

    tests: the number of tests of the run. Duration and course are those of the last run with this
        number of tests.
    """
    found = json.loads(REFERENCE.read_text(encoding="utf-8"))
    mine = read("durations", argv) or {}
    last = mine.get("runs", {}).get(str(tests), {})
    return Durations(
        {**found["topics"], **mine.get("topics", {})},
        found["speed"],
        last.get("course", found["course"] if tests >= MOST * found["tests"] else ()),
        last.get("seconds", 0.0),
        frozenset(mine.get("topics", {})),
    )


def remember_durations(
    argv: Sequence[str], tests: int, means: Mapping[str, float], pace: Pace, seconds: float
) -> None:
    """Store the mean durations of short tests by topic, and the duration and the course of the run.

    seconds: the duration of the run on an idle machine.
    """
    mine = read("durations", argv) or {}
    topics = {**mine.get("topics", {}), **{topic: round(mean, 4) for topic, mean in means.items()}}
    runs = mine.get("runs", {})
    if seconds >= MIN_S:
        runs.pop(str(tests), None)
        runs[str(tests)] = {"seconds": round(seconds, 1), "course": pace.course()}
    write("durations", argv, {"topics": topics, "runs": dict(list(runs.items())[-RUNS:])})
