"""Files about earlier runs of a shim, for `run --last-failed` and for estimates of the time
left."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from boxspec.errors import UsageError
from boxspec.places import cache
from boxspec.report.output_file import replace_file
from boxspec.report.progress import Durations

# Durations of the reference on two processors. They are used for the first run of a shim.
REFERENCE = Path(__file__).with_name("durations.json")
# A shorter run does not change the stored speed.
MIN_S = 10.0


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
    name = hashlib.sha256("\0".join(argv).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return cache() / kind / f"{name}.json"


def durations(argv: Sequence[str]) -> Durations:
    """Return the durations of the last runs of this shim, or else of the reference."""
    found = json.loads(REFERENCE.read_text(encoding="utf-8"))
    mine = read("durations", argv) or {}
    return Durations(
        {**found["topics"], **mine.get("topics", {})}, mine.get("speed", found["speed"])
    )


def remember_durations(
    argv: Sequence[str], means: Mapping[str, float], done_s: float, seconds: float
) -> None:
    """Store the mean durations of short tests by topic, and the speed of the run.

    The run did the work of `done_s` seconds in `seconds`.
    """
    known = durations(argv)
    topics = {**known.topics, **{topic: round(mean, 4) for topic, mean in means.items()}}
    speed = done_s / seconds if seconds >= MIN_S else known.speed
    write("durations", argv, {"topics": topics, "speed": round(speed, 3)})
