"""List the C files that clang-tidy must check: ci/tidy_todo.py BUILD STAMPS SHARE SOURCE...

Prints each file, then the file in STAMPS to touch once it is clean, one per line. A stamp is a hash
of the source, the headers of this tree that it includes, its command and the settings; changing a
header therefore checks all sources that include it. Also writes STAMPS/compile_commands.json.

SHARE is for example `2/3`: of the files that the last commits did not touch, the second third;
`1/1` means all. If the history does not show what the last commits touched, all files are checked.
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
LAST_COMMITS = 12


def commands(build: Path) -> dict[str, dict[str, str]]:
    """Return the first compile command of each source.

    A file that belongs to two targets has two, and in the second check clang-tidy 14 reports every
    va_list as uninitialised.
    """
    every = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    return {each["file"]: each for each in reversed(every)}


def included(build: Path) -> dict[str, set[str]]:
    """Return the headers of each source's objects, as ninja knows them after the build."""
    output = subprocess.run(
        ["ninja", "-C", build, "-t", "deps"], stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, set[str]] = {}
    for block in output.stdout.split("\n\n"):
        source, *headers = [line.strip() for line in block.splitlines()[1:]] or [""]
        ours = {each for each in headers if each.startswith(f"{build.parents[1]}/")}
        found.setdefault(source, set()).update(ours)
    return found


def reached(root: Path) -> set[str] | None:
    """Return the files that the last commits or the working tree changed.

    Return None if the history is too short.
    """
    output = subprocess.run(
        ["git", "diff", "--name-only", f"HEAD~{LAST_COMMITS}"],
        cwd=root,
        capture_output=True,
        text=True,
    )
    if output.returncode:
        return None
    return {str(root / line) for line in output.stdout.splitlines()}


def waits(sources: set[str], changed: set[str] | None, name: str, share: str) -> bool:
    """True if the file is left for another commit, because it is not in this commit's share."""
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
        # A source that is not built by default may include any header, so all headers count as its
        # own.
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
