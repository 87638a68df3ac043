#!/usr/bin/env python3
"""Check the includes between the reference's folders, and that no files call in a circle.

usage: check_includes.py            check reference/; exit status 1 if anything is not allowed
       check_includes.py --prove    check that each planted mistake is noticed; else exit status 1
"""

from __future__ import annotations

import itertools
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REFERENCE = Path(__file__).resolve().parent.parent / "reference"

# For each room (a folder of the reference): the rooms whose private headers it may include, by
# "room/file.h".
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
    "backend/plan/plan.h": "",
    "backend/mechanisms/landlock_abi.h": "",
    "backend/session": "base exec",
    "backend/plan": "base backend/session backend/plan/plan.h",
    "backend/mechanisms": "base backend/session backend/plan backend/plan/plan.h"
    " backend/mechanisms/landlock_abi.h",
    "backend/launch": "base exec backend/plan/plan.h backend/mechanisms/landlock_abi.h",
    "shim": "base",
    "cli": "base shim",  # main starts the shim, so cli includes it
}
# For each room: the rooms whose public headers it and its own public headers may include, by
# <boxspec/file.h>.
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
# Public headers whose name differs from the name of their room.
HEADERS = {
    "bytes.h": "base",
    "error.h": "base",
    "version.h": "base",
    "glob.h": "policy",
    "path.h": "policy",
    "profile.h": "policy",
    "sandbox.h": "exec",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<boxspec/([^>]+)>)')


@dataclass(frozen=True)
class Wrong:
    place: str
    words: str

    def __str__(self) -> str:
        return f"{self.place}: {self.words}"


def room_of(path: str) -> str | None:
    """Return the room of a file by its path below reference/.

    If several rooms fit, the longest name counts.
    """
    parts = path.split("/")
    names = ("/".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((name for name in names if name in ROOMS), None)


def public_room_of(header: str) -> str | None:
    room = HEADERS.get(header, header.removesuffix(".h"))
    return room if room in PUBLIC else None


def _private(room: str, header: str) -> str | None:
    """Return why a room must not include the private header `header`, or None if it may."""
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


# A comment, or a string or character literal: text without calls.
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
# A public name (`bs_…`) anywhere, or the name of another function followed by its call.
NAME = re.compile(r"(?<!struct )(?<!enum )(?<!union )\b(bs_\w+|[a-z]\w*(?=\())")
# A definition begins at the start of a line, because clang-format indents everything else. `static`
# functions are visible only in their file, except inline functions of a header.
DEFINITION = re.compile(
    r"^(?!typedef |extern )(static (?!inline ))?[A-Za-z_][\w \t*()]*?\b(\w+)"
    r"(?:\([^;{}]*\)\s*\{|(?:\[[^\]]*\])*\s*=)",
    re.MULTILINE,
)
# A declaration names a function without calling it.
DECLARATION = re.compile(r"^[A-Za-z_][^;{}=:]*;", re.MULTILINE)

# For each file, without its suffix: the files that it calls, each with one name that it uses there.
Calls = dict[str, dict[str, str]]


def calls_below(reference: Path) -> Calls:
    """Return the calls between the files of all rooms. `x.c` and `x.h` are one file, `x`.

    Only the files of one folder share names without `bs_`."""
    used: dict[str, set[str]] = {}
    defined_in: dict[str, set[str]] = {}
    for path in sorted(reference.rglob("*.[ch]")):
        place = path.relative_to(reference).with_suffix("").as_posix()
        if place.startswith(("tests/", "bench/", "include/")):
            continue
        code = NO_CODE.sub(" ", path.read_text(encoding="utf-8"))
        own = {name for static, name in DEFINITION.findall(code) if static}
        names = {name for _, name in DEFINITION.findall(code)} - own
        used.setdefault(place, set()).update(set(NAME.findall(DECLARATION.sub("", code))) - own)
        for name in names:
            defined_in.setdefault(name, set()).add(place)

    def reachable(name: str, place: str, other: str) -> bool:
        return name.startswith("bs_") or Path(place).parent == Path(other).parent

    return {
        place: {
            other: name
            for name in sorted(names)
            for other in sorted(defined_in.get(name, ()))
            if place not in defined_in[name] and reachable(name, place, other)
        }
        for place, names in used.items()
    }


def way_back(calls: Calls, start: str) -> list[str] | None:
    """Return the shortest circle of calls that leads from a file back to it, or None."""
    came_from = dict.fromkeys(calls[start], start)
    todo = list(came_from)
    for at in todo:
        if at == start:
            way = [start]
            while (before := came_from[way[0]]) != start:
                way.insert(0, before)
            return [start, *way]
        for other in calls[at]:
            if other not in came_from:
                came_from[other] = at
                todo.append(other)
    return None


def circles_of(calls: Calls) -> list[Wrong]:
    """Return the circles, one for each file that is in a circle.

    A file that an earlier circle contains gets no second one.
    """
    wrong: list[Wrong] = []
    seen: set[str] = set()
    for start in sorted(calls):
        way = None if start in seen else way_back(calls, start)
        if way is None:
            continue
        seen.update(way)
        words = "".join(f" -> {b} ({calls[a][b]})" for a, b in itertools.pairwise(way))
        wrong.append(Wrong(f"reference/{start}", f"calls in a circle: {start}{words}"))
    return wrong


def circle() -> list[str]:
    """Return rooms of the table that include each other in a circle; empty if there are none."""

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


# Trees of files that call each other in a circle. Each must be noticed.
PLANTED_CIRCLES: tuple[dict[str, str], ...] = (
    {
        "sbpl/a.c": "int bs_a(int n) { return other(n); }",
        "sbpl/b.c": "int other(int n) {\n    return bs_a(n);\n}",
    },
    {
        "exec/a.c": "struct x *bs_a(void)\n{ return bs_b; }",
        "exec/b.c": "const int bs_b[2] = {\n    1, bs_c(2)};",
        "exec/c.h": "static inline int bs_c(int n) { return n + bs_a(n); }",
    },
)
# A tree that uses the same names without a circle: in a comment, a string, a declaration, a static
# function, and in one direction only.
NO_CIRCLE = {
    "sbpl/a.c": '/* bs_b */ int bs_a(void) { return print("bs_b"); }\nint bs_b(void);',
    "sbpl/b.c": "int bs_b(void) { return bs_a() + bs_c(); }\nstatic int bs_c(void) { return 1; }",
    "sbpl/c.c": "int bs_d(void) { return bs_c(); }\nstatic int bs_c(void) { return bs_b(); }",
}


def _circles_in(files: dict[str, str]) -> list[Wrong]:
    with tempfile.TemporaryDirectory() as folder:
        for place, text in files.items():
            path = Path(folder) / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n", encoding="utf-8")
        return circles_of(calls_below(Path(folder)))


def prove_circles() -> int:
    """Return the number of wrong results: circles that are not noticed, and files without a circle
    that are reported as one."""
    missed = [files for files in PLANTED_CIRCLES if len(_circles_in(files)) != 1]
    for files in missed:
        print(f"not noticed: a circle of {', '.join(files)}", file=sys.stderr)
    invented = _circles_in(NO_CIRCLE)
    for each in invented:
        print(f"no circle: {each}", file=sys.stderr)
    return len(missed) + len(invented)


def prove() -> int:
    """Plant one wrong include or circle at a time. Return the exit status."""
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
    return 1 if prove_circles() or unseen else 0


def main(words: list[str]) -> int:
    if words == ["--prove"]:
        return prove()
    if words:
        print(__doc__, file=sys.stderr)
        return 2
    for room in circle():
        print(f"check_includes: the table of rooms has a circle through {room}", file=sys.stderr)
    wrong = wrong_below(REFERENCE)
    circles = circles_of(calls_below(REFERENCE))
    for each in (*wrong, *circles):
        print(each, file=sys.stderr)
    print(
        f"check_includes: {len(wrong)} includes against the direction of the rooms, "
        f"{len(circles)} circles of calls"
    )
    return 1 if wrong or circles or circle() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
