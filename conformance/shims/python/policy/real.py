"""Find the place to which a path leads, and check both the path and the place.

Links are followed as the kernel follows them.
"""

from __future__ import annotations

import errno
import os
import stat

from errors import Failed, reason_of
from policy.decide import Decision, Entry, decide
from policy.load import Rule
from policy.spelling import Refused, normal_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kinds import Object
    from policy.decide import Resolved
    from policy.glob import Text

MOST_LINKS = 40
LONGEST = 4095  # the most bytes of a path that the system accepts
OUTSIDE = "<outside workspace>"


class NoPlace(Failed):
    """Raised for a path that leads to no place: its links form a loop, or a name is too long."""


class Root:
    def __init__(self, data: bytes) -> None:
        self.given = names(data)
        self.real = walk([], self.given)
        if not os.path.isdir(b"/" + b"/".join(self.real)):
            raise Failed("io", f"{data.decode(errors='replace')}: not a directory")

    def below(self, place: list[bytes]) -> list[bytes] | None:
        """Return the names from the root to the place; None for a place outside the root."""
        for root in (self.given, self.real):
            if is_inside(root, place):
                return place[len(root) :]
        return None


def is_inside(root: list[bytes], place: list[bytes]) -> bool:
    return place[: len(root)] == root


def names(data: bytes) -> list[bytes]:
    return [name for name in data.split(b"/") if name not in (b"", b".")]


def check_resolved(
    resolved: Resolved, op: str, data: bytes, fold: bool, root: Root, follow: str
) -> Object:
    """Return the answer to a check. Raise Refused or Failed if there is no answer."""
    entries = resolved.entries(op)
    path = path_of(root, data)
    if path is None:
        return outside(absolute(data) or "/")
    written = decide(entries, path, fold)
    refuse_long(path)
    place = walk(root.real, names(path.encode()), follow)
    if not is_inside(root.real, place):
        if written.allowed:
            return outside(path)
        return written.as_json() | {"real": None}
    real = normal_path(b"/".join(place[len(root.real) :]) or b".")
    if written.allowed:
        there = decide(entries, real, fold)
        if there.allowed:
            there = decide([at_its_place(root, entry) for entry in entries], real, fold)
        written.allowed = there.allowed
        written.matched_rule = written.matched_rule if there.allowed else there.matched_rule
    return written.as_json() | {"real": real}


class Linked(Entry):
    """A deny whose path leads through links.

    It applies to the path as it is written, and to the place to which the links lead.
    """

    def __init__(self, entry: Entry, body: str) -> None:
        super().__init__(entry.rule, entry.origin, entry.sign)
        self.there = Entry(Rule(body, True), entry.origin, entry.sign)

    def matches(self, text: Text, fold: bool) -> bool:
        return super().matches(text, fold) or self.there.matches(text, fold)


def at_its_place(root: Root, entry: Entry) -> Entry:
    if entry.sign != "-":
        return entry
    body = where_it_leads(root, entry.rule.body)
    return entry if body in (None, entry.rule.body) else Linked(entry, str(body))


def where_it_leads(root: Root, body: str) -> str | None:
    """Return the rule for the place to which its literal part leads.

    The literal part consists of the names before the first wildcard. Return None if it leads to no
    place, or to a place that no path below the root can name.
    """
    segments = body.split("/")
    wild = [number for number, name in enumerate(segments) if "*" in name or "?" in name]
    literal = wild[0] if wild else len(segments)
    try:
        place = walk(root.real, [name.encode() for name in segments[:literal]])
        if not is_inside(root.real, place):
            return None
        real = normal_path(b"/".join(place[len(root.real) :]) or b".")
    except (NoPlace, Refused):
        return None
    return "/".join([*real.split("/"), *segments[literal:]]).removeprefix("./")


def refuse_long(path: str) -> None:
    if len(path.encode()) > LONGEST:
        raise NoPlace("io", f"{path[:100]}…: {os.strerror(errno.ENAMETOOLONG)}")


def outside(path: str) -> Object:
    return Decision(path, False, OUTSIDE).as_json() | {"real": None}


def path_of(root: Root, data: bytes) -> str | None:
    """Return the path relative to the root, in normal form.

    Return None for an absolute path outside the root.
    """
    if not data.startswith(b"/"):
        return normal_path(data)
    below = root.below(names(absolute(data).encode()))
    return None if below is None else normal_path(b"/".join(below) or b".")


def absolute(data: bytes) -> str:
    """Return the normal form of an absolute path.

    normal_path accepts only relative paths. So a name is put before the path, and removed again.
    """
    return normal_path(b"x" + data)[1:]


def walk(start: Sequence[bytes], wanted: Sequence[bytes], follow: str = "final") -> list[bytes]:
    """Return the names from `/` to the place of `wanted`.

    start: the names of the place at which the walk begins. It must contain no links.
    """
    place = list(start)
    ahead = [(name, i == len(wanted) - 1) for i, name in enumerate(wanted)][::-1]
    links = 0
    while ahead:
        name, last = ahead.pop()
        if name == b"..":
            place = place[:-1]
            continue
        target = None if last and follow == "parent" else link_at(place, name)
        if target is None:
            place.append(name)
            continue
        links += 1
        if links > MOST_LINKS:
            raise NoPlace("io", "too many symbolic links")
        if target.startswith(b"/"):
            place = []
        ahead += [(part, False) for part in reversed(names(target))]
    return place


def link_at(place: Sequence[bytes], name: bytes) -> bytes | None:
    """Return the target of the link with this name; None if there is no such link."""
    path = b"/" + b"/".join([*place, name])
    folder = -1
    try:
        if len(path) > LONGEST:  # the path is so long only because of the root
            folder, path = open_folder(place), name
        at = None if folder < 0 else folder
        is_link = stat.S_ISLNK(os.lstat(path, dir_fd=at).st_mode)
        return os.readlink(path, dir_fd=at) if is_link else None
    except OSError as e:
        if e.errno in (errno.ENOENT, errno.ENOTDIR):
            return None
        kind = NoPlace if e.errno in (errno.ELOOP, errno.ENAMETOOLONG) else Failed
        raise kind("io", f"{path.decode(errors='replace')}: {reason_of(e)}") from None
    finally:
        if folder >= 0:
            os.close(folder)


def open_folder(place: Sequence[bytes]) -> int:
    """Open a directory name by name, because its whole path is too long for one call."""
    folder = os.open(b"/", os.O_PATH)
    for name in place:
        above = folder
        try:
            folder = os.open(name, os.O_PATH, dir_fd=above)
        finally:
            os.close(above)
    return folder
