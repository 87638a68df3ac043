"""Objects that the command itself leaves after a program without any attempt.

These are files, processes, control groups, and other objects on the host. TMPDIR of the command is
a new folder, and XDG_RUNTIME_DIR has only sockets of the kit, so that no other process of the host
makes files there. In the control, a shell starts the program and leaves a process and files on
purpose.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from boxspec.mounts import mounted_below
from boxspec.random_names import random_name
from boxspec.subject.observe.facts import Facts, facts_of, tree
from boxspec.subject.observe.probes import ProbeResult
from boxspec.verify.host import Host
from boxspec.verify.left import Cgroups
from boxspec.verify.reaching import need_all_processes
from boxspec.verify.row import IDLE, Attempt, Target
from boxspec.verify.scene import Scene

VARIABLES = ("TMPDIR", "XDG_RUNTIME_DIR")


@dataclass(frozen=True)
class Remains(Target):
    """Files, processes, control groups and other objects that exist after the command and not
    before.

    Files are compared in the home directory, the workspace and the temporary folders.
    """

    host: Host = field(default_factory=Host, compare=False)

    def attempts(self, scene: Scene) -> list[Attempt]:
        need_all_processes()
        temporary = [Path(scene.env.get(name) or self._new(scene, name)) for name in VARIABLES]
        # The user's real home directory is not compared, because it is large and other programs
        # change it.
        folders = temporary if scene.real else [scene.home, *temporary]
        before: dict[Path, Facts] = {}
        scene.before_the_start(lambda: before.update(_paths(folders)))
        groups: list[Cgroups] = []
        scene.before_the_start(lambda: groups.append(Cgroups()))
        scene.before_the_start(self.host.note)

        def effects(result: ProbeResult) -> list[str]:
            now = {
                path: each
                for path, each in _paths(folders).items()
                if path in before or not scene.is_of_the_kit(path)
            }
            new = now.keys() - before.keys()
            changed = [path for path, each in before.items() if now.get(path, each) != each]
            # For a new folder there is only one line, and not one for each file below it.
            tops = sorted(path for path in new if path.parent not in new)
            files = [f"{scene.shown(path)} was left ({_kind(path)})" for path in tops]
            files += [f"{scene.shown(path)} was changed" for path in sorted(changed)]
            processes = [f"process {each} was left" for each in scene.others_left]
            mounted = mounted_below(scene.base)
            files += [f"the mount {scene.shown(each)} was left" for each in mounted]
            return [*files, *processes, *groups[0].left(scene.ran_in)]

        what = "a program that does nothing"
        on_the_host = Attempt(IDLE, what, {}, lambda result: self.host.left(), shared=True)
        return [Attempt(IDLE, what, {}, effects), on_the_host]

    def _new(self, scene: Scene, name: str) -> str:
        folder = scene.base / random_name()
        folder.mkdir(mode=0o700)
        return scene.env.setdefault(name, str(folder))


def _paths(folders: list[Path]) -> dict[Path, Facts]:
    found = {path: facts_of(path) for folder in folders for path in tree(folder)}
    return {path: facts for path, facts in found.items() if facts}


def _kind(path: Path) -> str:
    if path.is_socket():
        return "a socket"
    return "a folder" if path.is_dir() else "a file"
