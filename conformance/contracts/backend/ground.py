"""The ground of an attempt: a workspace, a tree outside it and a home, with their changes.

It lies below BOXSPEC_CASE_ROOT, or else below a folder of the user. It lies under /tmp only in a
test about that place, because many sandboxes have their own /tmp. The home is a directory of the
ground too, so that no profile grants access to files outside the ground.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from boxspec import folders
from boxspec.mounts import inner_path
from boxspec.places import case_root
from boxspec.programs import programs
from boxspec.random_names import random_folder_name, random_name, random_program_name
from boxspec.subject import open_guard
from boxspec.subject.observe.facts import Facts, facts_of, tree
from contracts.shared.files import program_at

CANARY = "canary\n"
LOWEST_KEY = 128
SHARED = ("/tmp", "/var/tmp", "/dev/shm")


def parents() -> list[Path]:
    """Return the folders below which grounds are made."""
    root = case_root()
    if os.environ.get("BOXSPEC_CASE_ROOT"):
        return [root.parent]
    # Programs of a user run below several folders, so a ground may lie below any of them that
    # exists. A missing folder is not created.
    home = Path(os.environ.get("HOME") or "/nowhere")
    others = [home, home / ".local" / "share", home / ".local" / "state"]
    own = [each.resolve() for each in others if each != Path("/") and os.access(each, os.W_OK)]
    return [root.parent, *(each for each in own if not is_replaced(each))]


def is_replaced(folder: Path) -> bool:
    """True if the folder lies where sandboxes have files of their own."""
    return any(Path(each) in (folder, *folder.parents) for each in ("/tmp", "/dev/shm"))


@contextlib.contextmanager
def made_ground(parent: Path | None = None) -> Iterator[Ground]:
    """Make a ground below this folder, by default below a folder that no sandbox replaces."""
    register = case_root() / "grounds"
    folder = folders.make_registered(
        parent or secrets.choice(parents()),
        f"{random_folder_name()}{secrets.token_hex(3)}",
        register,
    )
    with contextlib.ExitStack() as stack:
        # The removal is registered before the first write, because a write fails if the disk is
        # full.
        stack.callback(folders.delete, folder)
        open_guard.guard(folder)
        stack.callback(open_guard.release, folder)
        folder.chmod(0o755)
        ground = Ground(folder)
        stack.callback(ground.remove_shared)
        yield ground


def _somewhere_below(folder: Path) -> Path:
    """Return a new directory at a random depth."""
    for _ in range(1 + secrets.randbelow(3)):
        folder /= random_folder_name()
    folder.mkdir(parents=True)
    return folder


class Ground:
    """Directories with canaries; `changes` returns the differences from the start.

    All names are random, so that no sandbox can recognise a ground by its names.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # A program cannot guess this token. So a program that prints the token has read a canary.
        self.token = secrets.token_hex(8)
        self.ws, self.out, self.home = (_somewhere_below(folder) for _ in range(3))
        for path in (self.out / "empty", self.home / ".ssh"):
            path.mkdir()
        (self.out / "file").write_text(CANARY)
        (self.ws / "file").write_text(CANARY)
        (self.home / ".profile").write_text(CANARY)
        (self.home / ".ssh" / "authorized_keys").write_text(CANARY)
        (self.out / "linked").mkdir()
        (self.ws / "planted").symlink_to(self.out / "linked")
        with contextlib.suppress(OSError):
            os.setxattr(self.out / "file", "user.canary", b"1")
        self.program = program_at(self.ws / random_program_name(), programs.probe)
        self.params = self.ws / random_name()
        self._before: dict[str, Facts] = {}
        self._watched: list[Path] = []

    def move_ws(self, place: Path) -> None:
        """Move the workspace, together with the program in it, to a new path."""
        place.parent.mkdir(parents=True, exist_ok=True)
        self.ws = self.ws.rename(place)
        self.program, self.params = (place / each.name for each in (self.program, self.params))

    @property
    def out_from_ws(self) -> str:
        """Return the relative path from the workspace to the tree outside."""
        return os.path.relpath(self.out, self.ws)

    def watch(self, *paths: Path) -> None:
        """Record the state of these directories; by default of those outside the workspace."""
        self._watched = list(paths or (self.out, self.home))
        self._before = self._facts()

    def changes(self) -> list[str]:
        """Return the changes in the recorded directories, and new files in world-writable
        directories."""
        now = self._facts()
        both = sorted({*self._before, *now})
        changed = [path for path in both if self._before.get(path) != now.get(path)]
        made = [f"{_how(path, self._before, now)}: {self._short(path)}" for path in changed]
        made += [f"made: {path}" for path in self._in_shared() if path.exists()]
        return made

    def _in_shared(self) -> list[Path]:
        return [Path(folder) / self.token for folder in SHARED]

    def _short(self, path: str) -> str:
        for name, place in (("ws", self.ws), ("out", self.out), ("home", self.home)):
            if Path(path).is_relative_to(place):
                return str(Path(name) / Path(path).relative_to(place))
        return path.removeprefix(f"{self.folder}/")

    def _facts(self) -> dict[str, Facts]:
        found: dict[str, Facts] = {}
        for root in self._watched:
            found |= {str(path): facts_of(path) for path in (root, *tree(root))}
        return found

    def write_params(self, probe: str, **params: object) -> list[str]:
        """Write the parameters of one probe to a file, and return the command that starts the
        probe."""
        known: dict[str, object] = {
            "ws": self.ws,
            "out": self.out,
            "home": self.home,
            "token": self.token,
        }
        known["inner"] = inner_path(self.out / "file")
        every = {"armed": probe, "out_from_ws": self.out_from_ws, **known, **params}
        text = "".join(f"{name}={value}\n" for name, value in every.items())
        # The parameters are encoded with a random key. So a sandbox cannot read from the file which
        # attempt follows (fixtures/probes/probe.h).
        key = LOWEST_KEY + secrets.randbelow(256 - LOWEST_KEY)
        self.params.write_bytes(bytes([key, *(byte ^ key for byte in text.encode())]))
        return [str(self.program), str(self.params)]

    def remove_shared(self) -> None:
        # On a read-only file system even the removal of a missing file is an error.
        for path in self._in_shared():
            if path.exists():
                path.unlink(missing_ok=True)


def _how(path: str, before: dict[str, Facts], now: dict[str, Facts]) -> str:
    if path not in before:
        return "made"
    return "changed" if path in now else "gone"
