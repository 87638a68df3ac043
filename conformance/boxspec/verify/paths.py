"""Paths of rules: where they lie in the scene, and how they are shown.

A rule names a path as its user writes it: `~/.ssh`, `.env` for a file of the workspace, or an
absolute path. The shell of the user may have expanded `~`. So the user's home directory is replaced
by the home directory of the scene. A path elsewhere on the host stays as it is.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Container, Iterable
from dataclasses import dataclass
from pathlib import Path

from boxspec.places import is_text
from boxspec.verify.errors import UntestableError

WILD = frozenset("*?[")
# The longest name of a file, in bytes (limits.h).
NAME_MOST = 255


@dataclass(frozen=True)
class Place:
    """A path of a rule.

    base: `~`, `.` for the workspace, or `/` for the host.
    """

    base: str
    rest: str

    @property
    def shown(self) -> str:
        if self.base == "/":
            return f"/{self.rest}"
        if self.base == "~":
            return f"~/{self.rest}" if self.rest else "~"
        return self.rest or "."

    def base_in(self, home: Path, workspace: Path) -> Path:
        """Return the folder that `rest` is relative to."""
        return {"~": home, ".": workspace, "/": Path("/")}[self.base]


def place_of(word: str, home: Path, cwd: Path) -> Place:
    """Return the place that a word of a rule names; home and cwd are the folders of the user."""
    if not word:
        raise UntestableError("the path is empty")
    if word == "~" or word.startswith("~/"):
        return Place("~", _plain(word[2:]))
    if word.startswith("~"):
        raise UntestableError("the home directory of another user is not tested")
    if not word.startswith("/"):
        return Place(".", _plain(word))
    for base, folder in nearest_first(home, cwd):
        if word == str(folder) or word.startswith(f"{folder}/"):
            return Place(base, _plain(word[len(str(folder)) :].lstrip("/")))
    return Place("/", _plain(word[1:]))


def nearest_first(home: Path, cwd: Path) -> list[tuple[str, Path]]:
    """Return the home directory and the working directory of the caller, each in its spellings.

    The home directory may be a link, or lie behind one. If one of the two folders lies inside the
    other, the inner one comes first.
    """
    real_home, real_cwd = (Path(os.path.realpath(each)) for each in (home, cwd))
    homes, cwds = [home, real_home], [cwd, real_cwd]
    if real_cwd.is_relative_to(real_home):
        cwds.append(home / real_cwd.relative_to(real_home))
    of_cwd, of_home = [(".", each) for each in cwds], [("~", each) for each in homes]
    inner_first = of_home + of_cwd if real_home.is_relative_to(real_cwd) else of_cwd + of_home
    return [*dict.fromkeys(inner_first)]


def _plain(rest: str) -> str:
    """Remove `.` and repeated slashes.

    A slash at the end stays, because it shows that the path is a folder.
    """
    parts = [part for part in rest.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise UntestableError("a path with .. in it is not tested: write it without ..")
    if not is_text(Path(rest)):
        raise UntestableError("a path that is not UTF-8 is not tested")
    if any(len(os.fsencode(part)) > NAME_MOST for part in parts):
        raise UntestableError(f"no file has a name of more than {NAME_MOST} bytes")
    return "/".join(parts) + ("/" if rest.endswith("/") and parts else "")


def is_glob(path: str) -> bool:
    return bool(WILD & {*path})


def examples(place: Place) -> list[Place]:
    """Return places that a rule denies: the place itself, or up to two places that match a glob."""
    if not is_glob(place.rest):
        return [place]
    made = []
    for deep in (False, True) if "**" in place.rest else (False,):
        parts: list[str] = []
        for part in place.rest.split("/"):
            if part == "**":
                parts += [secrets.token_hex(3), secrets.token_hex(3)] if deep else []
            else:
                parts.append(_one_name(part))
        if place.rest.endswith("**"):
            parts.append(secrets.token_hex(4))
        made.append(Place(place.base, "/".join(parts)))
    return made


def _one_name(part: str) -> str:
    """Return a name that matches a part of a glob."""
    made, at = "", 0
    while at < len(part):
        character = part[at]
        if character == "*":
            made += secrets.token_hex(3)
        elif character == "?":
            made += secrets.choice("klmnop")
        elif character == "[":
            end = part.find("]", at + 2)
            if end < 0 or part[at + 1] in "!^":
                raise UntestableError(f"the kit can make no name that {part} matches")
            made += part[at + 1]
            at = end
        else:
            made += character
        at += 1
    return made


def link_target(place: Place, home: Path, cwd: Path) -> tuple[Place, Place, Place] | None:
    """Return where the path of a rule leads, if a part of it is a link on the user's host.

    The result is the link, the target of the link, and the whole path below the target. If the
    target is elsewhere on the host, a new folder in the home directory of the scene replaces it.
    """
    if place.base == "/" or not place.rest:
        return None
    base = place.base_in(home, cwd)
    parts = place.rest.rstrip("/").split("/")
    for number in range(1, len(parts) + 1):
        link = base.joinpath(*parts[:number])
        if not link.is_symlink():
            continue
        real = os.path.realpath(link)
        to = place_of(real, home, cwd)
        if to.base == "/" or not to.rest:
            to = Place("~", f"{secrets.token_hex(4)}/{secrets.token_hex(4)}")
        rest = "/".join([to.rest, *parts[number:]]) + ("/" if place.rest.endswith("/") else "")
        return Place(place.base, "/".join(parts[:number])), to, Place(to.base, rest)
    return None


# Names that are usually folders.
FOLDERS = frozenset(
    {
        *(".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".config", ".git", ".mozilla"),
        *("hooks", ".vscode", ".idea", ".claude", ".codex", ".gemini", ".cargo", ".local", "bin"),
        *(".cache", ".password-store", "secrets", "node_modules", ".github", "workflows", ".husky"),
    }
)


def folders_above(places: Iterable[Place]) -> frozenset[Place]:
    """Return the places that must be folders, because other places lie below them."""
    found = set()
    for place in places:
        parts = place.rest.split("/")
        found |= {Place(place.base, "/".join(parts[:end])) for end in range(1, len(parts))}
    return frozenset(found)


def expect_no_file_above(place: Place, home: Path, cwd: Path) -> None:
    """Raise UntestableError if the path needs a folder where the user has a file."""
    base = place.base_in(home, cwd)
    for name in Path(place.rest.rstrip("/")).parents:
        if (base / name).is_file():
            raise UntestableError(f"{name} is a file, and nothing can lie below it")


def is_folder(place: Place, home: Path, cwd: Path, folders: Container[Place] = ()) -> bool:
    """True if the place is a folder on the user's host.

    If the place does not exist there, its name decides.
    folders: places that are folders because of other rules.
    """
    if place.rest.endswith("/") or not place.rest:
        return True
    real = place.base_in(home, cwd) / place.rest
    if os.path.lexists(real):
        return real.is_dir()
    return place in folders or Path(place.rest).name in FOLDERS
