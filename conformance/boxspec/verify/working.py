"""Targets that must work, because a sandbox in which programs do not work is useless."""

from __future__ import annotations

import os
import secrets
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from boxspec.subject.observe.probes import ProbeResult, table
from boxspec.verify.paths import Place
from boxspec.verify.row import Attempt, Line, Target
from boxspec.verify.scene import Scene

# A file in TMPDIR, and a file in /tmp. A program must be able to write one of the two.
TEMPORARY = ("o_scratch", "w_tmp")
ORDINARY = ("o_children", "o_pipes", "o_devices", "o_system")
# Hooks are disabled, because a copied workspace may contain some.
GIT_SETTINGS = "-c user.name=u -c user.email=u@example.org -c core.hooksPath=/dev/null"
GIT_LINE = f"git -C {{root}} {GIT_SETTINGS} commit -q --allow-empty -m c"


def done(what: str) -> Callable[[ProbeResult], list[str]]:
    return lambda result: [what] if result.outcome == "did" else []


def exists(path: Path, what: str) -> Callable[[ProbeResult], list[str]]:
    return lambda result: [what] if path.exists() else []


@dataclass(frozen=True)
class Workspace(Target):
    """Make and change files and folders of the workspace."""

    def attempts(self, scene: Scene) -> list[Attempt]:
        work = scene.work_folder()
        shown = "files in the workspace"
        effects = exists(work / "b" / "g", "files were made in the workspace")
        return [Attempt("o_workspace", shown, {"ws": work}, effects)]


@dataclass(frozen=True)
class Ordinary(Target):
    """Do ordinary work: child processes, programs of the workspace, pipes, devices, a temporary
    file."""

    def attempts(self, scene: Scene) -> list[Attempt]:
        found = [Attempt(name, table()[name].tries, {}, done("done")) for name in ORDINARY]
        program: dict[str, object] = {"program": scene.program}
        found.append(Attempt("o_exec", table()["o_exec"].tries, program, done("done")))
        for name in TEMPORARY:
            token = secrets.token_hex(8)
            for folder in {"/tmp", os.environ.get("TMPDIR") or "/tmp"}:
                scene.janitor.remove(Path(folder) / token)
            shown, params = "a temporary file", {"token": token}
            found.append(Attempt(name, shown, {**params}, done("done"), group="temporary"))
        return found


@dataclass(frozen=True)
class GitCommit(Target):
    """Make a `git commit` in the workspace."""

    def lines(self, scene: Scene) -> list[Line]:
        made = scene.root / ".git" / "refs" / "heads" / "main"
        if scene.real or made.exists() or not (scene.root / ".git" / "HEAD").exists():
            return []

        def effects(output: bytes) -> list[str]:
            return ["a commit was made"] if made.is_file() else []

        line = GIT_LINE.format(root=shlex.quote(str(scene.root)))
        return [Line(line, "git commit in the workspace", effects)]


@dataclass(frozen=True)
class MayWrite(Target):
    """Write to a path that a rule allows to write.

    If it is a folder, a file is made in it; if it is a file, it is changed.
    """

    place: Place
    folder: bool

    def attempts(self, scene: Scene) -> list[Attempt]:
        path, work = scene.path(self.place), scene.work_folder()
        shown = self.place.shown.rstrip("/")
        if self.folder:
            new = path / secrets.token_hex(6)
            scene.make_parents(new)
            params: dict[str, object] = {"denied": new, "ws": work}
            effects = exists(new, f"a file was made in {shown}")
            return [Attempt("d_create", f"a new file in {shown}", params, effects)]
        scene.decoy(path)
        scene.watch(path)
        return [
            Attempt(
                "d_write",
                f"{shown} appended to",
                {"denied": path, "ws": work},
                lambda result: scene.changes(path),
            )
        ]


@dataclass(frozen=True)
class MayReach(Target):
    """Connect to a TCP port of this machine that a rule allows. The kit listens on it."""

    port: int

    def attempts(self, scene: Scene) -> list[Attempt]:
        listener = scene.port(self.port)
        shown = f"connect to 127.0.0.1:{self.port}"
        params: dict[str, object] = {"tcp4": self.port, "token": secrets.token_hex(8)}
        return [Attempt("n_tcp4", shown, params, lambda result: listener.came())]
