"""What a target, a sanitizer or libFuzzer said at its end, and what tells findings apart."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

ORACLE = re.compile(r"^boxspec-fuzz: (\w+): ([\w-]+): (.*)$", re.M)
SANITIZER = re.compile(r"ERROR: (Address|Leak|Thread)Sanitizer: ([\w-]+)(.*)$", re.M)
UNDEFINED = re.compile(r"^(\S+?):(\d+):\d+: runtime error: (.*)$", re.M)
ENGINE = re.compile(r"ERROR: libFuzzer: (timeout|out-of-memory|deadly signal)(.*)$", re.M)
FRAME = re.compile(r"^\s*#\d+ 0x[0-9a-f]+ in (\S+) (\S+)", re.M)
# A detail word in front of a message tells two findings of one oracle apart.
DETAIL = re.compile(r"([a-z][a-z-]*): ")

FRAMES = 2


@dataclass(frozen=True)
class Report:
    """Two reports with one key are one finding."""

    key: str
    message: str
    oracle: str | None = None  # None: a crash, a leak, a hang
    case: list[str] = field(default_factory=list)


def read(said: str) -> Report | None:
    """None where nothing was found."""
    fired = ORACLE.search(said)
    if fired is not None:
        return _fired(fired, said)
    broken = SANITIZER.search(said)
    if broken is not None:
        kind = "leak" if broken[1] == "Leak" else broken[2]
        return _crash(kind, f"{broken[1]}Sanitizer: {broken[2]}{broken[3]}", said[broken.end() :])
    undefined = UNDEFINED.search(said)
    if undefined is not None:
        place = f"{undefined[1].rpartition('/')[2]}:{undefined[2]}"
        return Report(f"undefined {place}", f"{place}: {undefined[3]}")
    ended = ENGINE.search(said)
    if ended is not None:
        return _crash(ended[1].replace(" ", "-"), f"{ended[1]}{ended[2]}", said[ended.end() :])
    return None


def _fired(fired: re.Match[str], said: str) -> Report:
    detail = DETAIL.match(fired[3])
    key = f"{fired[2]} {detail[1]}" if detail else fired[2]
    case = []
    for line in said[fired.end() :].splitlines()[1:]:
        # What the engine says behind it begins at the margin.
        if not line.startswith("  ") or line.startswith("  file "):
            break
        case.append(line.strip())
    return Report(key, fired[3], fired[2], case)


def _crash(kind: str, message: str, trace: str) -> Report:
    ours = [
        name
        for name, place in FRAME.findall(trace)
        if ("/reference/" in place or "/fuzz/" in place) and not name.startswith("LLVMFuzzer")
    ]
    return Report(" ".join([kind, *ours[:FRAMES]]), message.strip())
