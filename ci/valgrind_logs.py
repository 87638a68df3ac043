"""Reads a folder of valgrind logs: fails when one shows an error, a leak or a descriptor left open.

usage: valgrind_logs.py FOLDER AT_LEAST
Processes that a case ended say nothing: SIGKILL leaves no summary, SIGINT and SIGTERM one of a
process in the middle of its work. AT_LEAST many others must have written one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

SUMMARY = re.compile(r"ERROR SUMMARY: (\d+) errors")
LOST = re.compile(r"(definitely|indirectly|possibly) lost: ([\d,]+) bytes")
ENDED_BY_CASE = re.compile(r"terminating with default action of signal (2|15)\b")
# An open descriptor, and the line that says whose it is.
OPEN = re.compile(r"Open (.*?\d+.*)\n==\d+==\s+(.*)")


def problems(text: str) -> list[str]:
    found = [f"{count} errors" for count in SUMMARY.findall(text) if count != "0"]
    found += [f"{size} bytes {kind} lost" for kind, size in LOST.findall(text) if size != "0"]
    found += [
        f"open at exit: {what}"
        for what, origin in OPEN.findall(text)
        if "<inherited from parent>" not in origin
    ]
    return found


def main(folder: Path, at_least: int) -> int:
    texts = {path: path.read_text(errors="replace") for path in sorted(folder.glob("*.log"))}
    whole = {
        path: text
        for path, text in texts.items()
        if SUMMARY.search(text) and not ENDED_BY_CASE.search(text)
    }
    bad = {path: found for path, text in whole.items() if (found := problems(text))}
    for path, found in bad.items():
        print(f"{path}: {'; '.join(found)}")
    said = f"{len(bad)} with an error, leak or descriptor"
    print(f"valgrind: {len(whole)} processes looked at, {said}")
    return 1 if bad or len(whole) < at_least else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
