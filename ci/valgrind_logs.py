"""Read a folder of valgrind logs; fail if one shows an error, a leak or an open descriptor.

usage: valgrind_logs.py FOLDER AT_LEAST
Logs of processes that a case ended are ignored: SIGKILL leaves no summary, and after SIGINT or
SIGTERM the process was in the middle of its work. At least AT_LEAST other processes must have
written a summary.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

SUMMARY = re.compile(r"ERROR SUMMARY: (\d+) errors")
LOST = re.compile(r"(definitely|indirectly|possibly) lost: ([\d,]+) bytes")
ENDED_BY_CASE = re.compile(r"terminating with default action of signal (2|15)\b")
# An open descriptor, and the next line of the log, which says where it was opened.
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
    summary = f"{len(bad)} with an error, leak or descriptor"
    print(f"valgrind: {len(whole)} processes looked at, {summary}")
    return 1 if bad or len(whole) < at_least else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
