"""Parse the output of a crash, so that equal findings are recognised.

The output is from a target, a sanitizer or libFuzzer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

ORACLE = re.compile(r"^boxspec-fuzz: (\w+): ([\w-]+): (.*)$", re.M)
SANITIZER = re.compile(r"ERROR: (Address|Leak|Thread)Sanitizer: ([\w-]+)(.*)$", re.M)
UNDEFINED = re.compile(r"^(\S+?):(\d+):\d+: runtime error: (.*)$", re.M)
ENGINE = re.compile(r"ERROR: libFuzzer: (timeout|out-of-memory|deadly signal)(.*)$", re.M)
FRAME = re.compile(r"^\s*#\d+ 0x[0-9a-f]+ in (\S+) (\S+)", re.M)
# Matches a line of stderr in which the shim reports a crash or a broken request.
SHIM = re.compile(r"^boxspec-shim: (.*)$", re.M)
# Matches the word at the start of a message that distinguishes two findings of one oracle.
DETAIL = re.compile(r"([a-z][a-z-]*): ")
# Matches the marks of a request (fuzz/support/marks.h).
MARKS = re.compile(r"request \d+ ((?:\+[a-z-]+)+): ")

FRAMES = 2


@dataclass(frozen=True)
class Report:
    """A parsed report.

    Reports with equal keys are the same finding. The message does not contain the key again.
    """

    key: str
    message: str
    oracle: str | None = None  # None for a crash, a leak or a hang
    case: list[str] = field(default_factory=list)
    shim_stderr: list[str] = field(default_factory=list)

    @property
    def marks(self) -> str:
        """Return the marks of the request that caused the finding, such as `+star+question`."""
        found = MARKS.match(self.message)
        return found[1] if found is not None else ""

    def is_one_of(self, ignored: Iterable[str]) -> bool:
        """True if one of the ignored keys covers this report.

        A key such as `CLASS+mark` covers a report with that class and at least these marks.
        """
        own = {*self.marks.split("+")}
        split = (each.split("+") for each in ignored)
        return any(key == self.key and own.issuperset(marks) for key, *marks in split)


def read(output: str) -> Report | None:
    """Return the report in an output, or None if there is no finding."""
    fired = ORACLE.search(output)
    if fired is not None:
        return _fired(fired, output)
    broken = SANITIZER.search(output)
    if broken is not None:
        kind, rest = broken[2], broken[3]
        if broken[1] == "Leak":
            kind, rest = "leak", f" {kind}{rest}"
        return _crash(kind, f"{broken[1]}Sanitizer:{rest}", output[broken.end() :])
    undefined = UNDEFINED.search(output)
    if undefined is not None:
        place = f"{undefined[1].rpartition('/')[2]}:{undefined[2]}"
        return Report(f"undefined {place}", undefined[3])
    ended = ENGINE.search(output)
    if ended is not None:
        message = ended[2].strip() or "killed by a signal"
        return _crash(ended[1].replace(" ", "-"), message, output[ended.end() :])
    return None


def _fired(fired: re.Match[str], output: str) -> Report:
    detail = DETAIL.match(fired[3])
    key, message = fired[2], fired[3]
    if detail is not None:
        key, message = f"{key} {detail[1]}", message[detail.end() :]
    case = []
    for line in output[fired.end() :].splitlines()[1:]:
        # The lines of a case are indented. The first other line is from the engine again.
        if not line.startswith("  ") or line.startswith("  file "):
            break
        case.append(line.strip())
    return Report(key, message, fired[2], case, SHIM.findall(output[: fired.start()]))


def _crash(kind: str, message: str, trace: str) -> Report:
    ours = [
        name
        for name, place in FRAME.findall(trace)
        if ("/reference/" in place or "/fuzz/" in place) and not name.startswith("LLVMFuzzer")
    ]
    return Report(" ".join([kind, *ours[:FRAMES]]), message.strip())
