"""Targets that must not be read: files, folders and variables.

Each contains a random secret. A program that prints the secret has read the target.
"""

from __future__ import annotations

import os
import secrets
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from boxspec.mounts import inner_path
from boxspec.subject.observe.facts import holds
from boxspec.subject.observe.probes import ProbeResult
from boxspec.verify.errors import UntestableError
from boxspec.verify.handles import file_handle
from boxspec.verify.paths import Place
from boxspec.verify.row import Attempt, Effects, Line, Target
from boxspec.verify.scene import Scene

# Ways to read one file, by probe. Each way is tried without the command too.
WAYS = {
    "r_secret": "opened",
    "r_proc_self_root": "opened through /proc/self/root",
    "r_pid_root": "opened through /proc/PID/root of another process",
    "r_via_symlink": "opened through a link in the workspace",
    "r_via_new_hardlink": "opened through a hard link in the workspace",
    "r_io_uring": "opened by io_uring",
    "r_mmap": "mapped",
    "r_chmod": "opened after its permissions were given back",
    "r_descriptor": "opened below a descriptor that the command left open",
    "r_mounted": "opened through another mount of its file system",
    "r_by_handle": "opened by its handle",
}
# Probes that make a link in the workspace.
MAKE_LINKS = ("r_via_symlink", "r_via_new_hardlink")


def _folders_to_unmount(path: Path) -> dict[str, object]:
    """Return the lowest and the highest folder that the attempt unmounts.

    Both lie above the path and below the next mount point of this host. So without a sandbox
    neither is a mount point, and the attempt has no effect.
    """
    if os.path.ismount(path.parent):
        return {}
    top = path.parent
    while not os.path.ismount(top.parent):
        top = top.parent
    return {"secret": path.parent, "top": top}


def leaks(token: str, effect: str) -> Callable[[ProbeResult], list[str]]:
    """Return the effect if the secret was read."""
    return lambda result: [effect] if any(token in each for each in result.leaked) else []


def printed(token: str, effect: str) -> Callable[[bytes], list[str]]:
    return lambda output: [effect] if token.encode() in output else []


@dataclass(frozen=True)
class ReadFile(Target):
    """The content of a file.

    thorough: True to try every known way of reading the file.
    """

    place: Place
    thorough: bool = False

    def furnish(self, scene: Scene) -> None:
        scene.decoy(scene.path(self.place))

    def attempts(self, scene: Scene) -> list[Attempt]:
        path = scene.path(self.place)
        if scene.keeps(path):
            return OpenHostFile(path).attempts(scene)
        token = scene.decoy(path)
        effects = leaks(token, f"{self.place.shown} was read")
        made = []
        is_there = partial(holds, path, token)

        for probe, how in WAYS.items() if self.thorough else [("r_secret", "opened")]:
            params: dict[str, object] = {"path": path}
            if probe in MAKE_LINKS:
                params["ws"] = scene.work_folder()
            if probe == "r_mounted":
                params["inner"] = inner_path(path)
            if probe == "r_by_handle":
                handle = file_handle(path)
                if not handle:
                    continue
                params["handle"] = handle
            made.append(self._attempt(probe, how, params, effects, is_there=is_there))
        if self.thorough:
            how = "opened after unmounting what hides it"
            params = {"path": path, "ws": scene.root, **_folders_to_unmount(path)}
            made.append(self._attempt("z_umount_mask", how, params, effects, late=True))
        return made

    def _attempt(
        self,
        probe: str,
        how: str,
        params: dict[str, object],
        effects: Effects,
        late: bool = False,
        is_there: Callable[[], bool] | None = None,
    ) -> Attempt:
        shown = f"{self.place.shown} {how}"
        way = "" if probe == "r_secret" else how
        return Attempt(probe, shown, params, effects, late=late, is_there=is_there, way=way)

    def lines(self, scene: Scene) -> list[Line]:
        path = scene.path(self.place)
        if scene.keeps(path):
            return []
        seen = printed(scene.decoy(path), f"{self.place.shown} was read by a shell")
        return [Line(f"cat {shlex.quote(str(path))}", f"cat {self.place.shown}", seen)]


@dataclass(frozen=True)
class ReadLateFile(Target):
    """A file that the kit makes after the command has started, at a path that a rule denies."""

    place: Place

    def attempts(self, scene: Scene) -> list[Attempt]:
        path = scene.path(self.place)
        shown = f"{self.place.shown}, made after the start,"
        effects = leaks(scene.late_decoy(path), f"{shown} was read")
        params: dict[str, object] = {"path": path}
        return [Attempt("r_secret", f"{shown} opened", params, effects, after_start=True)]


@dataclass(frozen=True)
class ReadFolder(Target):
    """The names in a folder, and the content of one file in it."""

    place: Place
    inside: str = ""

    def furnish(self, scene: Scene) -> None:
        self._file(scene).furnish(scene)

    def attempts(self, scene: Scene) -> list[Attempt]:
        path = scene.path(self.place)
        shown = self.place.shown.rstrip("/")
        effects = leaks(scene.named_decoy(path), f"the names in {shown} were read")
        params: dict[str, object] = {"secret": path}
        listed = Attempt("r_readdir", f"the names in {shown}", params, effects)
        return [listed, *self._file(scene).attempts(scene)]

    def lines(self, scene: Scene) -> list[Line]:
        path = scene.path(self.place)
        shown = self.place.shown.rstrip("/")
        seen = printed(scene.named_decoy(path), f"the names in {shown} were read by a shell")
        line = Line(f"ls -a {shlex.quote(str(path))}", f"ls {shown}", seen)
        return [line, *self._file(scene).lines(scene)]

    def _file(self, scene: Scene) -> ReadFile:
        name = secrets.token_hex(4) if scene.real else self.inside or "key"
        rest = f"{self.place.rest.rstrip('/')}/{name}".lstrip("/")
        return ReadFile(Place(self.place.base, rest), thorough=True)


@dataclass(frozen=True)
class OpenHostFile(Target):
    """A file of the host that the kit did not make. The attempt opens and identifies it, but reads
    no content."""

    path: Path

    def attempts(self, scene: Scene) -> list[Attempt]:
        if not os.access(self.path, os.R_OK):
            raise UntestableError("the caller cannot read it without the command either")
        params: dict[str, object] = {"path": self.path, "only_open": 1}
        effects = identified(self.path, f"{self.path} was opened for reading")
        return [
            Attempt("r_secret", f"{self.path} opened, nothing read", params, effects, unclear=True)
        ]


def identified(path: Path, effect: str) -> Callable[[ProbeResult], list[str]]:
    """Return the effect if the program opened the host's file, which device and inode identify."""
    found = path.stat()
    return named(f"file {found.st_dev}:{found.st_ino}", effect)


def named(name: str, effect: str) -> Callable[[ProbeResult], list[str]]:
    """Return the effect if the program opened a file that the kernel describes by this name."""
    return lambda result: [effect] if name in result.leaked else []


@dataclass(frozen=True)
class Variable(Target):
    """A variable of the command's environment."""

    name: str

    def furnish(self, scene: Scene) -> None:
        scene.variable(self.name)

    def attempts(self, scene: Scene) -> list[Attempt]:
        effects = leaks(scene.variable(self.name), f"the variable {self.name} was read")
        return [Attempt("e_env", f"the variable {self.name}", {"variable": self.name}, effects)]

    def lines(self, scene: Scene) -> list[Line]:
        seen = printed(scene.variable(self.name), f"the variable {self.name} was read by a shell")
        return [Line(f"printenv {shlex.quote(self.name)}", f"the variable {self.name}", seen)]


@dataclass(frozen=True)
class Environments(Target):
    """The environment of other processes, read through /proc.

    These are the launcher and a process of the user.
    """

    name: str = "GITHUB_TOKEN"

    def attempts(self, scene: Scene) -> list[Attempt]:
        # The control has no launcher with the secret. So another process with the secret is started
        # outside.
        token = scene.variable(self.name)
        params = {**scene.process(token).params, "token": token}
        shown = "/proc/PID/environ of"
        effects = leaks(token, "the environment of the launcher or of another process was read")
        in_arguments = leaks(
            token, "the launcher has the secret in its arguments, and they were read"
        )
        return [
            Attempt("p_environs", f"{shown} every process", {**params}, effects),
            Attempt("p_environ", f"{shown} one process outside", {**params}, effects),
            # Without the command no other process has the secret in its arguments, so this attempt
            # has no control.
            Attempt("p_cmdlines", "/proc/PID/cmdline of every process", {**params}, in_arguments),
        ]
