"""Places below a folder that a rule denies. A command may show one of them again, or make one of
them writable again."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path, PurePath

from boxspec.places import is_text
from boxspec.verify.known_secrets import SECRET_FILES
from boxspec.verify.paths import Place

# The number of own files and of own folders of the user that are tried, and their greatest depth.
OWN_MOST, DEEPEST = 16, 2
KNOWN = {"~": SECRET_FILES, ".": (), "/": ()}
# Folders of a git repository.
OF_GIT = (".git/info", ".git/objects", ".git/refs/heads", ".git/logs")


def files_below(place: Place, home: Path, cwd: Path) -> list[Place]:
    """Return files below the folder: those of programs that the kit knows, and the user's own."""
    own = [each for each, is_folder in _own(place, home, cwd) if not is_folder]
    return [*dict.fromkeys([*_known(place), *own[:OWN_MOST]])]


def new_files_below(place: Place, home: Path, cwd: Path) -> list[Place]:
    """Return a new file in each folder below the folder."""
    own = [each for each, is_folder in _own(place, home, cwd) if is_folder]
    known = [Place(place.base, str(PurePath(each.rest).parent)) for each in _known(place)]
    if place.base == ".":
        known += [Place(".", name) for name in OF_GIT if _is_below(name, place)]
    bare = place.rest.rstrip("/")
    folders = [each for each in dict.fromkeys([*known, *own[:OWN_MOST]]) if each.rest != bare]
    return [Place(each.base, f"{each.rest}/{secrets.token_hex(6)}") for each in folders]


def _is_below(name: str, place: Place) -> bool:
    return PurePath(place.rest) in PurePath(name).parents


def _known(place: Place) -> list[Place]:
    return [Place(place.base, name) for name in KNOWN[place.base] if _is_below(name, place)]


def _own(place: Place, home: Path, cwd: Path) -> Iterator[tuple[Place, bool]]:
    """Yield the user's own files and folders below the folder, and whether each is a folder.

    Names that are not UTF-8 are left out, because JSON cannot express them.
    """
    base = place.base_in(home, cwd)
    waiting = [(base / place.rest, 0)]
    while waiting:
        folder, depth = waiting.pop(0)
        with contextlib.suppress(OSError):
            for each in sorted(os.scandir(folder), key=lambda each: each.name)[:OWN_MOST]:
                path = Path(each.path)
                if not is_text(path):
                    continue
                found = Place(place.base, str(path.relative_to(base)))
                if each.is_dir(follow_symlinks=False):
                    yield found, True
                    if depth + 1 < DEEPEST:
                        waiting.append((path, depth + 1))
                elif each.is_file(follow_symlinks=False):
                    yield found, False
