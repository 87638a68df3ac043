"""Targets that must not be changed. A change counts only if it is observed from outside."""

from __future__ import annotations

import os
import re
import secrets
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from boxspec.mounts import inner_path
from boxspec.random_names import random_name
from boxspec.subject.observe.facts import content, holds
from boxspec.subject.observe.probes import ProbeResult, table
from boxspec.verify.errors import UntestableError
from boxspec.verify.paths import Place
from boxspec.verify.reading import identified, leaks, printed
from boxspec.verify.row import Attempt, Effects, Line, Target
from boxspec.verify.scene import PAYLOAD, Scene

# The folder of hooks in the settings of git.
HOOKS_PATH = re.compile(r'(?i)^\s*hooksPath\s*=\s*"?([^"\n]+?)"?\s*$', re.MULTILINE)
# Attempts to change one file. Their order matters, because each attempt uses the file as the
# previous one left it.
ON_A_FILE = {
    "d_symlink": "written through a link",
    "d_hardlink": "written through a hard link",
    "d_write": "appended to",
    "d_mounted": "written through another mount of its file system",
    "d_rename_over": "replaced by a rename",
    "d_unlink": "removed",
}
MOVES = "d_rename_parent"
# Each of these probes needs an empty folder in the workspace.
IN_WORKSPACE = ("d_symlink", "d_hardlink", "d_rename_over", MOVES)
OUTSIDE = (
    *("w_create", "w_write", "w_append", "w_truncate", "w_open_rdonly_trunc", "w_mkdir"),
    *("w_rmdir", "w_unlink", "w_rename_inside_out", "w_rename_out_to_ws"),
    *("w_rename_ws_over_out", "w_symlink_create", "w_mkfifo", "w_unix_bind"),
    *("w_hardlink_out_to_ws_write", "w_hardlink_ws_to_out", "w_symlink_dir_follow"),
    *("w_symlink_file_follow", "w_preplanted_symlink", "w_proc_self_root", "w_o_path_reopen"),
    *("w_o_tmpfile", "w_io_uring_openat", "w_exchange", "w_openat2", "w_creat", "w_mounted"),
)
# Attempts that do more than open a path. The evidence names the way.
INDIRECT = (
    *("w_hardlink_out_to_ws_write", "w_hardlink_ws_to_out", "w_symlink_dir_follow"),
    *("w_symlink_file_follow", "w_preplanted_symlink", "w_proc_self_root", "w_o_path_reopen"),
    *("w_io_uring_openat", "w_mounted", "w_chroot_escape", "w_open_by_handle"),
)
# Probes for a folder in the parent directory of the workspace.
BESIDE = ("w_create", "w_write", "w_unlink")
ONLY_ROOT = ("w_chroot_escape", "w_open_by_handle")
METADATA = (
    *("w_chmod", "w_fchmodat2", "w_fchmod_rdonly", "w_futimens_rdonly", "w_utimes"),
    *("w_setxattr", "w_lsetxattr", "w_fsetxattr_rdonly", "w_removexattr"),
)


def changed(scene: Scene, path: Path) -> Callable[[ProbeResult], list[str]]:
    scene.watch(path)
    return lambda result: scene.changes(path, made_empty=False)


def made(scene: Scene, path: Path) -> Callable[[ProbeResult], list[str]]:
    return lambda result: scene.was_made(path)


@dataclass(frozen=True)
class AppendTo(Target):
    """An existing file that other rows read. Only one attempt is made, so that the file stays."""

    place: Place

    def furnish(self, scene: Scene) -> None:
        scene.decoy(scene.path(self.place))

    def attempts(self, scene: Scene) -> list[Attempt]:
        path = scene.path(self.place)
        if scene.keeps(path):
            return OpenHostFileToWrite(path).attempts(scene)
        scene.decoy(path)
        return self._on_a_decoy(scene, path, changed(scene, path))

    def _on_a_decoy(self, scene: Scene, path: Path, effects: Effects) -> list[Attempt]:
        params = _denied(scene, path, "d_write")
        return [Attempt("d_write", f"{self.place.shown} appended to", params, effects)]


@dataclass(frozen=True)
class WriteFile(AppendTo):
    """An existing file, with attempts that append to it, replace it, move it and more."""

    def _on_a_decoy(self, scene: Scene, path: Path, effects: Effects) -> list[Attempt]:
        return _on_a_file(scene, path, self.place.shown, effects)

    def lines(self, scene: Scene) -> list[Line]:
        path = scene.path(self.place)
        if scene.keeps(path):
            return []
        scene.decoy(path)
        scene.watch(path)
        line = f"echo escaped >>{shlex.quote(str(path))}"
        return [Line(line, f"echo >>{self.place.shown}", lambda output: scene.changes(path))]


@dataclass(frozen=True)
class WriteFolder(Target):
    """A folder: a new file in it, its existing files, and the folder itself."""

    place: Place
    inside: str = ""

    def furnish(self, scene: Scene) -> None:
        self._file(scene)

    def attempts(self, scene: Scene) -> list[Attempt]:
        path = scene.path(self.place)
        file = self._file(scene)
        shown = self.place.shown.rstrip("/")
        new = path / secrets.token_hex(6)
        if scene.real:
            return self._in_a_folder_of_the_user(scene, file, new)
        effects = changed(scene, path)
        found = [
            Attempt("d_create", f"a new file in {shown}", _denied(scene, new, "d_create"), effects)
        ]
        found += _on_a_file(scene, file, f"a file in {shown}", effects)
        if self.place.rest:
            moved = _denied(scene, path / secrets.token_hex(6), MOVES)
            how = f"{shown} moved away and made again"
            found.append(Attempt(MOVES, how, moved, effects, late=True))
        if self.place.base == "." and "/" in self.place.rest.rstrip("/"):
            how = f"the folder of {shown} moved away and made again"
            moved = _denied(scene, path, MOVES)
            found.append(Attempt(MOVES, how, moved, effects, late=True))
        return found

    def _in_a_folder_of_the_user(self, scene: Scene, file: Path, new: Path) -> list[Attempt]:
        """Return attempts on a new file and on the kit's own decoy. The folder belongs to the
        user."""
        shown = self.place.shown.rstrip("/")
        scene.janitor.remove(new)
        found = [Attempt("d_create", f"a new file in {shown}", {"denied": new}, made(scene, new))]
        return found + _on_a_file(scene, file, f"a file in {shown}", changed(scene, file))

    def lines(self, scene: Scene) -> list[Line]:
        path = scene.path(self.place)
        if scene.real:
            return []
        self._file(scene)
        scene.watch(path)
        line = f"echo escaped >{shlex.quote(str(path / secrets.token_hex(6)))}"
        shown = f"echo >{self.place.shown.rstrip('/')}/NEW"
        return [Line(line, shown, lambda output: scene.changes(path))]

    def _file(self, scene: Scene) -> Path:
        inside = secrets.token_hex(4) if scene.real else self.inside or "file"
        file = scene.path(self.place) / inside
        scene.decoy(file)
        return file


@dataclass(frozen=True)
class NewFile(Target):
    """A file that does not exist yet and whose name some program reads."""

    place: Place

    def furnish(self, scene: Scene) -> None:
        scene.make_parents(scene.path(self.place))

    def attempts(self, scene: Scene) -> list[Attempt]:
        self.furnish(scene)
        path = scene.path(self.place)
        params = _denied(scene, path, "d_create")
        shown = f"{self.place.shown} created"
        return [Attempt("d_create", shown, params, made(scene, path))]

    def lines(self, scene: Scene) -> list[Line]:
        self.furnish(scene)
        path = scene.path(self.place)
        line = f"echo escaped >{shlex.quote(str(path))}"
        return [Line(line, f"echo >{self.place.shown}", lambda output: scene.was_made(path))]


class _Folder:
    """An open folder. Its path stays valid if a program moves the folder."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self.path = Path(f"/proc/self/fd/{self._fd}")

    def __enter__(self) -> _Folder:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)


@dataclass(frozen=True)
class NewFileOfGit(NewFile):
    """A new file below .git, which other attempts move away.

    No shell makes it, because `git commit` in the same shell would follow it.
    """

    def attempts(self, scene: Scene) -> list[Attempt]:
        self.furnish(scene)
        path = scene.path(self.place)
        new = scene.enter(_Folder(path.parent)).path / path.name
        effect, shown = f"{self.place.shown} was created", f"{self.place.shown} created"

        def effects(result: ProbeResult) -> list[str]:
            return [effect] if holds(new, PAYLOAD) else []

        return [Attempt("d_create", shown, _denied(scene, path, "d_create"), effects)]

    def lines(self, scene: Scene) -> list[Line]:
        return []


@dataclass(frozen=True)
class HooksOfSettings(Target):
    """The folder of hooks that the settings of a copied workspace name (core.hooksPath)."""

    def _folder(self, scene: Scene) -> WriteFolder | None:
        found = HOOKS_PATH.search((content(scene.root / ".git/config") or b"").decode("latin-1"))
        path = Path(found[1]) if found else Path("..")
        if path.is_absolute() or ".." in path.parts or "~" in path.parts:
            return None
        return WriteFolder(Place(".", str(path)), secrets.token_hex(4))

    def attempts(self, scene: Scene) -> list[Attempt]:
        folder = self._folder(scene)
        return folder.attempts(scene) if folder else []


@dataclass(frozen=True)
class WriteLateFile(Target):
    """A file that the kit makes after the command has started. A rule denies to write at its
    path."""

    place: Place

    def attempts(self, scene: Scene) -> list[Attempt]:
        path = scene.path(self.place)
        scene.late_decoy(path)
        shown = f"{self.place.shown}, made after the start, appended to"
        params = _denied(scene, path, "d_write")

        def effects(result: ProbeResult) -> list[str]:
            return scene.late_changes(path)

        return [Attempt("d_write", shown, params, effects, after_start=True)]


def _denied(scene: Scene, path: Path, probe: str) -> dict[str, object]:
    params: dict[str, object] = {"denied": path}
    if probe == "d_mounted":
        params["inner"] = inner_path(path)
    return {**params, "ws": scene.work_folder()} if probe in IN_WORKSPACE else params


def _on_a_file(scene: Scene, path: Path, shown: str, effects: Effects) -> list[Attempt]:
    return [
        Attempt(
            probe,
            f"{shown} {how}",
            _denied(scene, path, probe),
            effects,
            way="" if probe == "d_write" else how,
        )
        for probe, how in ON_A_FILE.items()
    ]


@dataclass(frozen=True)
class Probes(Target):
    """Probes that each need a separate folder outside the workspace.

    beside: True for folders in the parent directory of the workspace, False for the home directory.
    """

    names: tuple[str, ...]
    late: bool = False
    beside: bool = False

    def attempts(self, scene: Scene) -> list[Attempt]:
        if self.beside and scene.real:
            return []
        return [self._attempt(scene, name) for name in self.names]

    def _attempt(self, scene: Scene, name: str) -> Attempt:
        out, work = scene.outside_folder(beside=self.beside), scene.work_folder()
        if name == "w_rmdir":
            (out / "empty").mkdir()
        if name == "w_preplanted_symlink":
            (out / "linked").mkdir()
            (work / "planted").symlink_to(out / "linked")
        params: dict[str, object] = {"out": out, "ws": work, "token": secrets.token_hex(8)}
        if name == "w_mounted":
            params["inner"] = inner_path(out / "file")
        shown = table()[name].tries + (", beside the workspace" if self.beside else "")
        way = shown if self.late or name in INDIRECT else ""
        return Attempt(name, shown, params, lambda result: scene.changes(out), self.late, way=way)

    def lines(self, scene: Scene) -> list[Line]:
        out = scene.outside_folder()
        line = f"echo escaped >>{shlex.quote(str(out / 'file'))}"
        return [Line(line, "echo >>~/FILE", lambda output: scene.changes(out))]


@dataclass(frozen=True)
class TemporaryFiles(Target):
    """The user's files in a private folder, which lies in a folder for all users.

    Other users can neither read nor change these files.
    only_changes: True if programs may read the files.
    """

    place: Path
    only_changes: bool = False

    def attempts(self, scene: Scene) -> list[Attempt]:
        folder = scene.private_folder(self.place / random_name())
        token = scene.decoy(folder / "file")
        changes = changed(scene, folder)
        shown = f"a private file in {self.place}"
        made = []
        if not self.only_changes:
            read = leaks(token, f"{folder}/file was read")
            made = [Attempt("r_secret", f"{shown} opened", {"path": folder / "file"}, read)]
        new = _denied(scene, folder / secrets.token_hex(6), "d_create")
        inside = f"a new file in a private folder in {self.place}"
        made.append(Attempt("d_create", inside, new, changes))
        return made + _on_a_file(scene, folder / "file", shown, changes)

    def lines(self, scene: Scene) -> list[Line]:
        if self.only_changes:
            return []
        folder = scene.private_folder(self.place / random_name())
        seen = printed(scene.decoy(folder / "file"), f"{folder}/file was read by a shell")
        shown = f"cat {self.place}/FOLDER/file"
        return [Line(f"cat {shlex.quote(str(folder / 'file'))}", shown, seen)]


@dataclass(frozen=True)
class OpenHostFileToWrite(Target):
    """A file of the host. It is opened for writing and closed unchanged."""

    path: Path

    def attempts(self, scene: Scene) -> list[Attempt]:
        if not os.access(self.path, os.W_OK):
            raise UntestableError("the caller cannot write it without the command either")
        effects = identified(self.path, f"{self.path} was opened for writing")
        shown = f"{self.path} opened for writing, nothing written"
        return [Attempt("w_etc", shown, {"path": self.path}, effects, unclear=True)]


@dataclass(frozen=True)
class UnnamedHostFile(Target):
    """A file without a name in a folder of the host. It vanishes when it is closed."""

    folder: Path

    def attempts(self, scene: Scene) -> list[Attempt]:
        effects = identified(self.folder, f"a file can be made in {self.folder}")
        params: dict[str, object] = {"path": self.folder, "unnamed": 1}
        return [Attempt("w_etc", f"a file without a name in {self.folder}", params, effects)]


@dataclass(frozen=True)
class NewHostFile(Target):
    """A new file with a random name in a folder of the host. It is removed at the end."""

    folder: Path

    def attempts(self, scene: Scene) -> list[Attempt]:
        path = self._new(scene)
        shown = f"a new file in {self.folder}"
        return [Attempt("d_create", shown, _denied(scene, path, "d_create"), made(scene, path))]

    def lines(self, scene: Scene) -> list[Line]:
        path = self._new(scene)
        line = f"echo escaped >{shlex.quote(str(path))}"
        return [Line(line, f"echo >{self.folder}/NEW", lambda output: scene.was_made(path))]

    def _new(self, scene: Scene) -> Path:
        path = self.folder / f".{secrets.token_hex(8)}"
        scene.janitor.remove(path)
        return path
