"""The verb `clean`: list or remove the folders that runs have kept or left."""

from __future__ import annotations

import time
from collections.abc import Sequence

from boxspec import folders
from boxspec.cli.verbs import verb_parser
from boxspec.places import left_roots
from boxspec.plural import many
from boxspec.printable import one_line

# How many folders are listed, the largest first.
MOST = 20

EPILOG = """\
A run keeps the folder of each failed test as evidence. `clean` lists these folders, and those of
runs that were killed: of all runs of this user, in any checkout. Nothing is removed without
--force, and never a folder of a running process.
exit codes: 0 listed or removed; 1 a folder could not be removed; 2 wrong usage."""


def main(words: Sequence[str]) -> int:
    parser = verb_parser("clean", EPILOG)
    parser.add_argument("-f", "--force", action="store_true", help="remove the listed folders")
    force = parser.parse_args(words).force
    found = folders.left_by_runs(left_roots())
    unused = [left for left in found if not left.is_used]
    sized = sorted(((left.size(), left.path) for left in unused), key=lambda each: -each[0])
    for size, path in sized[:MOST]:
        old = age(time.time() - path.stat().st_mtime)
        print(one_line(f"{_mib(size):>10}  {old:>10} old  {path}"))
    if more := sized[MOST:]:
        print(f"{_mib(sum(size for size, _ in more)):>10}  in {many(len(more), 'smaller folder')}")
    total = sum(size for size, _ in sized)
    stays = [folders.stays(path) for _, path in sized if force and not folders.delete(path)]
    for line in stays:
        print(one_line(line))
    in_use = len(found) - len(unused)
    does = "removed" if force else "found; boxspec clean --force removes them"
    number = len(unused) - len(stays)
    print(f"{many(number, 'folder')}, {_mib(total)}, {does}")
    if in_use:
        print(f"{in_use} more in use by running processes")
    return int(bool(stays))


def age(seconds: float) -> str:
    """Return the age in the largest unit that fits: `12 seconds`, `3 hours`, `1 day`."""
    units = (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))
    name, size = next((each for each in units if seconds >= each[1]), units[-1])
    return many(max(int(seconds / size), 0), name)


def _mib(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"
