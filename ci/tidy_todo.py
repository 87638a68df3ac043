"""Which C files clang-tidy has to look at: ci/tidy_todo.py BUILD STAMPS SHARE SOURCE...

Prints each with the file in STAMPS to touch when it is clean, a word a line. A mark stands for a
source, the headers of this tree that it includes, its command and the settings: who changes a
header pays for the sources that include it. Also writes STAMPS/compile_commands.json.

SHARE is `2/3` or the like: of the files that the last commits did not reach, the second third;
`1/1` for all. Where the history does not say what the last commits reached, all are looked at.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zlib
from functools import cache
from pathlib import Path

ROOMS = ("reference", "fixtures", "fuzz")
LAST_COMMITS = 40


def commands(build: Path) -> dict[str, dict[str, str]]:
    """By source. A file of two targets has two, and clang-tidy 14 takes every va_list of the second
    look for an uninitialised one: the first alone."""
    every = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    return {each["file"]: each for each in reversed(every)}


def included(build: Path) -> dict[str, set[str]]:
    """What the objects of each source were made of, as ninja knows since they were built."""
    told = subprocess.run(
        ["ninja", "-C", build, "-t", "deps"], stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, set[str]] = {}
    for block in told.stdout.split("\n\n"):
        source, *headers = [line.strip() for line in block.splitlines()[1:]] or [""]
        ours = {each for each in headers if each.startswith(f"{build.parents[1]}/")}
        found.setdefault(source, set()).update(ours)
    return found


def reached(root: Path) -> set[str] | None:
    """What the last commits and the work on top of them have changed; None: nobody knows."""
    told = subprocess.run(
        ["git", "diff", "--name-only", f"HEAD~{LAST_COMMITS}"],
        cwd=root,
        capture_output=True,
        text=True,
    )
    return {str(root / line) for line in told.stdout.splitlines()} if not told.returncode else None


def waits(sources: set[str], changed: set[str] | None, name: str, share: str) -> bool:
    """Whether it is the turn of others."""
    number, _, of = share.partition("/")
    if changed is None or sources & changed:
        return False
    return zlib.crc32(name.encode()) % int(of) != int(number) - 1


@cache
def _digest(path: str) -> bytes:
    return hashlib.sha256(f"{path}\0".encode() + Path(path).read_bytes()).digest()


def main() -> None:
    build, stamps = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    root = build.parents[1]
    known, headers = commands(build), included(build)
    settings = sorted(path for room in ROOMS for path in (root / room).rglob(".clang-tidy"))
    every = {str(path) for room in ROOMS for path in (root / room).rglob("*.h")}
    text = json.dumps(list(known.values()))
    (stamps / "compile_commands.json").write_text(text, encoding="utf-8")
    common = hashlib.sha256()
    for each in [root / ".clang-tidy", *settings]:
        common.update(_digest(str(each)))
    changed = reached(root)
    for name in sys.argv[4:]:
        source = str(root / name)
        # What is not built by default may include anything.
        sources = {source, *headers.get(source, every)}
        if source not in known or waits(sources, changed, name, sys.argv[3]):
            continue
        mark = common.copy()
        mark.update(known[source]["command"].encode())
        for path in sorted(sources):
            mark.update(_digest(path))
        stamp = stamps / mark.hexdigest()[:32]
        if not stamp.exists():
            print(name, stamp, sep="\n")


if __name__ == "__main__":
    main()
