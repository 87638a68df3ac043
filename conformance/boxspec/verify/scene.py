"""The scene of one start: a home directory and a workspace with decoys, and the observers.

A successful attempt changes its decoys, so each start has a new scene. All names, places and
contents are random. No name and no variable mentions the kit.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from boxspec import umask
from boxspec.folders import remove
from boxspec.programs import programs
from boxspec.random_names import random_folder_name, random_name
from boxspec.subject.observe.facts import content, holds
from boxspec.subject.observe.listeners import Listeners
from boxspec.subject.observe.victim import Victim
from boxspec.verify import objects
from boxspec.verify.errors import UntestableError, explained
from boxspec.verify.janitor import Janitor
from boxspec.verify.known_secrets import set_mode
from boxspec.verify.layout import DROPPED, Layout, parents, without_the_kit
from boxspec.verify.paths import Place
from boxspec.verify.port import Port
from boxspec.verify.repository import make_repository
from boxspec.verify.socket_files import SocketFiles
from boxspec.verify.watch import Watch, is_empty, write_in_place
from boxspec.verify.words import Words

# The folder in which programs of all users make temporary files.
TEMPORARY = Path("/tmp")
# The bytes that a write probe writes.
PAYLOAD = "escaped"
# Every random name of the kit matches this.
RANDOM = re.compile("[0-9a-f]{6}")
NOTHING_THERE = "nothing is there, and the kit makes nothing there"
Entered = TypeVar("Entered", bound=contextlib.AbstractContextManager[Any])


class Scene:
    """A home directory and a workspace with decoys.

    Make a scene, add all decoys, then call `settle`; `changes` reports the changes since that call.
    parent: the folder below which the scene lies; the default is one of `parents`.
    control: True if programs are started without the command.
    program: the program of the kit that is started.
    """

    def __init__(
        self,
        janitor: Janitor,
        parent: Path | None = None,
        *,
        control: bool = False,
        layout: Layout | None = None,
        program: str = "",
    ) -> None:
        umask.set_own()
        layout = layout or Layout()
        self.control = control
        self.real = layout.home is not None
        # The user's folder that corresponds to the workspace.
        self._own_root = layout.copied or Path.cwd()
        self._stack = contextlib.ExitStack()
        self._fresh: set[Path] = set()
        # The id of the attempt that finds copies of decoys, and its parameters: `words` are secrets
        # in variables. No decoy is older than `since`, by the clock of files, which may be late.
        self.search = secrets.token_hex(6)
        self.searched: dict[str, object] = {"since": time.time_ns() - 20_000_000, "words": ""}
        self.more_words: list[str] = []  # Each start adds them to the words of its program.
        self._words: Words | None = None
        self.base = (parent or parents()[0]) / random_folder_name()
        janitor.remove(self.base)
        self.janitor = janitor
        self.base.mkdir(mode=0o755)
        self.home = layout.home or self.base / random_folder_name()
        project = Path(random_folder_name(), random_folder_name())
        self.root = layout.root or self.home / project
        self.private = self.base / random_name()
        for folder in (self.root, self.private):
            folder.mkdir(parents=True, exist_ok=True)
        if layout.copied is not None:
            shutil.copytree(layout.copied, self.root, symlinks=True, dirs_exist_ok=True)
        if not self.real:
            make_repository(self.root)
        self.program = self._copied(program or programs.probe, self.root)
        self.warden = self._copied(programs.warden, self.private)
        self._late: dict[Path, str] = {}
        self._absent: set[Path] = set()
        # A file that is made after all late decoys. Attempts on late decoys wait until it exists.
        self.marker = self.fresh(self.root)
        self.env: dict[str, str] = {}
        # Words before the command. They start the command in other namespaces.
        self.prefix: list[str] = []
        # Processes that outlived the command: first those of the program, then all others as text.
        self.left: list[int] = []
        self.others_left: list[str] = []
        self.ran_in: list[str] = []  # the control groups in which the program ran
        # Planted scripts make files (marks) in this folder when they are executed.
        self.marks: Path | None = None
        self._before: list[Callable[[], None]] = []
        self.typed = 0
        # Listeners at the places in which programs of a user listen.
        self.user_sockets: SocketFiles | None = None
        self._tokens: dict[Path, str] = {}
        self._watch = Watch(self.home)
        self._victim: Victim | None = None
        self._listeners: tuple[Listeners, set[str]] | None = None

    def fresh(self, folder: Path) -> Path:
        """Return a path with a random name. It is removed with its contents at the end."""
        return self.named(folder, random_name())

    def named(self, folder: Path, name: str) -> Path:
        """Return the path of a name with a random part. It is removed with its contents too."""
        made = folder / name
        self._fresh.add(made)
        if self.real:
            self.janitor.remove(made)
        return made

    def is_of_the_kit(self, path: Path) -> bool:
        """True if the path, or a folder above it, was made by `fresh`."""
        return not self._fresh.isdisjoint((path, *path.parents))

    def is_named_by_the_kit(self, path: str) -> bool:
        """True if a part of the path is a name of `fresh`, or of the folder with the output."""
        ours = {self.private.name, *(each.name for each in self._fresh)}
        return not ours.isdisjoint(Path(path).parts)

    def before_the_start(self, call: Callable[[], None]) -> None:
        """Register a function that is called when all decoys exist, before the start."""
        self._before.append(call)

    def keeps(self, path: Path) -> bool:
        """True if the path exists and belongs to the user. Such a file may only be opened."""
        return self.real and path not in self._tokens and os.path.lexists(path)

    def make_parents(self, path: Path) -> None:
        """Make the folders above a path. In the user's real home directory and workspace only
        folders with random names are made, because they are removed at the end."""
        if self.real:
            if self.keeps(path):
                raise UntestableError("it exists, and the kit changes nothing of yours")
            new = [each for each in (path, *path.parents) if not os.path.lexists(each)]
            if new and not RANDOM.search(new[-1].name):
                raise UntestableError(NOTHING_THERE)
            if new:
                self.janitor.remove(new[-1])
        with explained(path):
            if not path.parent.is_dir():
                path.parent.mkdir(parents=True, exist_ok=True)

    def _copied(self, program: str, folder: Path) -> Path:
        """Return a copy of a program of the kit. The copy has a short name, because /proc keeps
        only 15 characters of a name."""
        made = self.fresh(folder)
        made = made.with_name(made.name[:15])
        if self.real:
            self.janitor.remove(made)
        shutil.copyfile(program, made)
        made.chmod(0o755)
        return made

    def path(self, place: Place) -> Path:
        """Return the path of a place in this scene."""
        base = place.base_in(self.home, self.root)
        return base / place.rest.rstrip("/") if place.rest else base

    def decoy(self, path: Path) -> str:
        """Return the secret at this path. If there is none, write one."""
        if path not in self._tokens:
            token = secrets.token_hex(12)
            self.make_parents(path)
            is_new = not path.exists()
            with explained(path):
                kept = b"" if is_new else path.read_bytes()
                path.write_bytes(kept + f"# {token}\n".encode())
            if is_new:
                self._set_mode(path)
            self._tokens[path] = token
        return self._tokens[path]

    def decoys_below(self, path: Path) -> list[Path]:
        """Return the decoys at and below a path."""
        return [each for each in self._tokens if each.is_relative_to(path)]

    def _set_mode(self, path: Path) -> None:
        """Give a decoy, and each folder above it, the permissions of the user's own files."""
        if not self.real:
            set_mode(path, ((self.root, self._own_root), (self.home, Path.home())))

    def late_decoy(self, path: Path) -> str:
        """Return a secret. It is written to this path after the command has started."""
        if path not in self._late and self._absent.isdisjoint(path.parents):
            self.make_parents(path)
            self._set_mode(path)
        return self._late.setdefault(path, secrets.token_hex(12))

    def after_the_start(self) -> None:
        """Note the files that the command has moved, and write the late decoys.

        The marker comes last: the attempts on these decoys wait for it.
        """
        self._watch.note_displaced(self._tokens)
        for path, token in self._late.items():
            # The launcher may have put a mount point there, or may have moved the folder.
            with contextlib.suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                write_in_place(path, f"# {token}\n".encode())
                self._set_mode(path)
        with contextlib.suppress(OSError):
            self.marker.touch()

    def late_changes(self, path: Path) -> list[str]:
        """Return an effect if a late decoy no longer has its content."""
        kept = content(path) == f"# {self._late[path]}\n".encode()
        return [] if kept else [f"{self.shown(path)}, made after the start, was changed"]

    def link(self, path: Path, target: Path, to_folder: bool) -> None:
        """Make a link, before any decoy is written through it. If the link leads to a folder, that
        folder is made too."""
        if not path.is_symlink():
            path.parent.mkdir(parents=True, exist_ok=True)
            (target if to_folder else target.parent).mkdir(parents=True, exist_ok=True)
            path.symlink_to(target)

    def absent(self, path: Path, *, needs_folders: bool = False) -> None:
        """Remove a path, also a decoy of another row. A folder is made again with its first late
        decoy: after the start, or before the start with `needs_folders`."""
        remove(path)
        if not needs_folders:
            self._absent.add(path)

    def named_decoy(self, folder: Path) -> str:
        """Put a file with a random name into a folder; return the name."""
        name = secrets.token_hex(8)
        self.make_parents(folder / name)
        (folder / name).write_text("")
        self._set_mode(folder / name)
        return name

    def work_folder(self) -> Path:
        """Make a folder for one attempt in the workspace."""
        made = self.fresh(self.root)
        made.mkdir()
        return made

    def outside_folder(self, *, beside: bool = False) -> Path:
        """Make a folder with a file outside the workspace, for one attempt.

        beside: True to make it in the parent directory of the workspace, like another project whose
            name begins with the name of the workspace; False to make it in the home directory.
        """
        name = f"{self.root.name}-{random_name()}" if beside else random_name()
        made = self.named(self.root.parent if beside else self.home, name)
        made.mkdir()
        (made / "file").write_text("canary\n")
        with contextlib.suppress(OSError):
            os.setxattr(made / "file", "user.canary", b"1")
        self.watch(made)
        return made

    def private_folder(self, path: Path) -> Path:
        """Make a folder that only the user may open. It is removed at the end of the scene."""
        self.janitor.remove(path)
        path.mkdir(mode=0o700)
        return path

    def variable(self, name: str) -> str:
        """Set a variable of the command's environment to a random secret, and return the secret."""
        # Values of one length would tell the command that it is tested.
        return self.env.setdefault(name, secrets.token_urlsafe(secrets.choice(range(16, 48))))

    @property
    def victim(self) -> Victim:
        """Return the process of the user outside the sandbox; start it at the first call."""
        if self._victim is None:
            self.victim_token = secrets.token_hex(12)
            self._victim = self.process(self.victim_token)
        return self._victim

    def process(self, token: str) -> Victim:
        """Start one more process of the user outside the sandbox, with this secret in its
        environment."""
        program = str(self._copied(programs.victim, self.private))
        return self._stack.enter_context(Victim(program, self.base, token))

    @property
    def words(self) -> Words:
        if self._words is None:
            self._words = Words(self.base / random_name())
            self.more_words = self._words.all
        return self._words

    @property
    def listeners(self) -> Listeners:
        if self._listeners is None:
            folder = self.fresh(self.home)
            folder.mkdir()
            self.sockets = folder
            made = self._stack.enter_context(Listeners(folder, secrets.token_hex(8)))
            self._listeners = (made, set())
        return self._listeners[0]

    def reached(self) -> set[str]:
        """Return the names of the listeners that a client has reached so far."""
        if self._listeners is None:
            return set()
        listeners, found = self._listeners
        found |= {hit.partition(":")[0] for hit in listeners.hits()}
        return found

    def port(self, number: int, *, both: bool = False) -> Port:
        """Return a listener of the kit on this TCP port of 127.0.0.1; 0 means any free port.

        both: True to listen on ::1 too, if the host has this address.
        """
        return self.enter(Port(number, both=both))

    def enter(self, made: Entered) -> Entered:
        """Enter a context. The end of the scene leaves it."""
        self._stack.enter_context(made)
        return made

    def places(self) -> list[str]:
        """Return the paths of the decoys, relative to the home directory."""
        paths = {*self._tokens, *self._watch.paths()}
        return [str(path.relative_to(self.home)) for path in paths if self.home in path.parents]

    def removed_with_the_scene(self, path: Path) -> None:
        """Remove the path at the end of this scene, so that no later start finds it."""
        self.janitor.remove(path)
        self._stack.callback(remove, path)

    def remove_objects(self, key: int, name: str) -> None:
        """Remove these kernel objects at the end of the scene."""
        self._stack.callback(objects.remove, key, name)
        self.janitor.remove_objects(key, name)

    def watch(self, path: Path) -> None:
        self._watch.add(path)

    def settle(self) -> None:
        """Record the watched paths as they are before the start."""
        self._watch.settle(self._tokens)
        for call in self._before:
            call()

    def is_displaced(self, path: Path) -> bool:
        """True if the command had moved the path, or a folder above it, when the program ran."""
        return self._watch.is_displaced(path)

    def changes(self, path: Path, *, made_empty: bool = True) -> list[str]:
        """Return the changes at a watched path.

        made_empty: True to count new files without content too. A launcher may leave such files as
            mount points.
        """
        return [
            f"{self.shown(name)} was {how}"
            for name, how in self._watch.changes(path)
            if made_empty or how != "created" or not is_empty(name)
        ]

    def was_made(self, path: Path) -> list[str]:
        """Return an effect if a write probe made this file. A mount point of a launcher does not
        count."""
        made = not path.is_symlink() and holds(path, PAYLOAD)
        return [f"{self.shown(path)} was created"] if made else []

    def shown(self, path: Path) -> str:
        """Return a path of the scene as its user would write it."""
        for base, short in ((self.root, ""), (self.home, "~/"), (self.base, "BASE/")):
            if path == base:
                return short.rstrip("/") or "."
            if path.is_relative_to(base):
                return f"{short}{path.relative_to(base)}"
        return str(path)

    def environment(self, caller: Mapping[str, str]) -> dict[str, str]:
        """Return the caller's environment with the folders and secrets of this scene."""
        kept = without_the_kit(caller, () if self.real else DROPPED)
        return {**kept, "HOME": str(self.home), "PWD": str(self.root), **self.env}

    def close(self) -> None:
        self._stack.close()
        self.janitor.remove_now(self.base)

    def __enter__(self) -> Scene:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
