#!/usr/bin/env python3
"""Which room of the reference may include which: the arrows of the architecture, checked.

usage: check_includes.py            every #include of reference/; exits 1 if one is not allowed
       check_includes.py --prove    plants wrong includes in a copy; exits 1 if one is not noticed
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REFERENCE = Path(__file__).resolve().parent.parent / "reference"

# What a room may include by "room/file.h". It may include itself, too.
ROOMS = {
    "base": "",
    "exec": "base",
    "process": "base exec",
    "module": "base exec",
    "policy/model.h": "",
    "policy/path": "base",
    "policy/match": "base policy/path",
    "policy/file": "base policy/path policy/model.h",
    "policy/document": "base policy/path policy/match policy/file policy/model.h",
    "policy/profile": "base policy/path policy/match policy/document policy/model.h",
    "policy/authoring": "base policy/path policy/match policy/file policy/document policy/profile"
    " policy/model.h",
    "sbpl": "base policy/path",
    "backend": "base exec sbpl",
    "shim": "base",
    "cli": "base shim",  # main is here and opens the doors of the shim
}
# What a room, or one of its public headers, may include by <boxspec/file.h>.
EVERY = "base exec process module policy sbpl backend"
PUBLIC = {
    "base": "base",
    "exec": "base exec",
    "process": "base exec process",
    "module": "base exec module",
    "policy": "base policy",
    "sbpl": "base policy sbpl",
    "backend": "base exec policy sbpl backend",
    "shim": EVERY,
    "cli": EVERY,
}
# Public headers that are not called like their room.
HEADERS = {
    "bytes.h": "base",
    "error.h": "base",
    "version.h": "base",
    "glob.h": "policy",
    "path.h": "policy",
    "profile.h": "policy",
}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<boxspec/([^>]+)>)')


@dataclass(frozen=True)
class Wrong:
    place: str
    words: str

    def __str__(self) -> str:
        return f"{self.place}: {self.words}"


def room_of(path: str) -> str | None:
    """The room of a file, by its path below reference/; the longest name that fits."""
    parts = path.split("/")
    names = ("/".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((name for name in names if name in ROOMS), None)


def public_room_of(header: str) -> str | None:
    room = HEADERS.get(header, header.removesuffix(".h"))
    return room if room in PUBLIC else None


def _private(room: str, header: str) -> str | None:
    """Why a room may not include "header"; None if it may."""
    other = room_of(header)
    if other is None:
        return f'"{header}" is in no room: write "room/file.h", or add the room to ROOMS'
    if other == room or other in ROOMS[room].split():
        return None
    return f'{room} may not include "{header}", but of: {ROOMS[room] or "nothing else"}'


def _public(room: str, header: str) -> str | None:
    other = public_room_of(header)
    top = room.split("/")[0]
    if other is None:
        return f"<boxspec/{header}> is of no room: add it to HEADERS"
    if other in PUBLIC[top].split():
        return None
    return f"{room} may not include <boxspec/{header}>, but headers of: {PUBLIC[top]}"


def wrong_in(path: Path, place: str, room: str) -> Iterator[Wrong]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = INCLUDE.match(line)
        if found is None:
            continue
        private, public = found.groups()
        words = _private(room, private) if private is not None else _public(room, public)
        if words is not None:
            yield Wrong(f"reference/{place}:{number}", words)


def wrong_below(reference: Path) -> list[Wrong]:
    wrong: list[Wrong] = []
    for path in sorted(reference.rglob("*.[ch]")):
        place = path.relative_to(reference).as_posix()
        if place.startswith(("tests/", "bench/")):
            continue
        is_public = place.startswith("include/boxspec/")
        room = public_room_of(path.name) if is_public else room_of(place)
        if room is None:
            wrong.append(Wrong(f"reference/{place}", "is in no room: add it to ROOMS"))
        elif is_public and room != "base" and room not in PUBLIC:
            wrong.append(Wrong(f"reference/{place}", "is of no room: add it to HEADERS"))
        else:
            wrong += wrong_in(path, place, room)
    return wrong


def circle() -> list[str]:
    """Rooms of the table that lead back to themselves."""

    def reached(room: str) -> set[str]:
        seen: set[str] = set()
        todo = ROOMS[room].split()
        while todo:
            other = todo.pop()
            if other not in seen:
                seen.add(other)
                todo += ROOMS[other].split()
        return seen

    return [room for room in ROOMS if room in reached(room)]


PLANTED = (
    ("base/x.c", '#include "exec/spawn.h"'),
    ("exec/x.c", '#include "policy/path/path.h"'),
    ("exec/x.h", "#include <boxspec/policy.h>"),
    ("policy/path/x.c", '#include "policy/match/matcher.h"'),
    ("policy/match/x.c", '#include "policy/model.h"'),
    ("policy/file/x.c", '#  include "policy/document/shape.h"'),
    ("policy/document/x.c", '#include "policy/profile/check.h"'),
    ("policy/profile/x.c", '#include "policy/authoring/draft.h"'),
    ("policy/x.c", '#include "base/buf.h"'),
    ("policy/match/y.c", '#include "matcher.h"'),
    ("policy/match/z.c", "#include <boxspec/sbpl.h>"),
    ("sbpl/x.c", '#include "exec/spawn.h"'),
    ("sbpl/y.c", '#include "policy/match/matcher.h"'),
    ("shim/x.c", '#include "policy/match/matcher.h"'),
    ("shim/y.c", '#include "cli/commands.h"'),
    ("cli/x.c", '#include "exec/spawn.h"'),
    ("include/boxspec/policy.h", "#include <boxspec/sbpl.h>"),
    ("include/boxspec/new.h", ""),
    ("garden/x.c", ""),
)


def prove() -> int:
    """Each wrong include alone; the exit status."""
    unseen = 0
    for place, line in PLANTED:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / place
            path.parent.mkdir(parents=True)
            path.write_text(f"{line}\n", encoding="utf-8")
            if not wrong_below(Path(folder)):
                print(f"not noticed: {place}: {line}", file=sys.stderr)
                unseen += 1
    print(f"check_includes: {len(PLANTED) - unseen} of {len(PLANTED)} planted includes noticed")
    return 1 if unseen else 0


def main(words: list[str]) -> int:
    if words == ["--prove"]:
        return prove()
    if words:
        print(__doc__, file=sys.stderr)
        return 2
    for room in circle():
        print(f"check_includes: the table leads from {room} back to it", file=sys.stderr)
    wrong = wrong_below(REFERENCE)
    for each in wrong:
        print(each, file=sys.stderr)
    print(f"check_includes: {len(wrong)} includes against the direction of the rooms")
    return 1 if wrong or circle() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
