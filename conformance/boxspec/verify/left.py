"""Find shared memory, queues and control groups that outlive the command."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from boxspec.mounts import cgroup_folders
from boxspec.subject.observe import procs
from boxspec.subject.observe.probes import ProbeResult, table
from boxspec.verify.host import MEMORY
from boxspec.verify.objects import has_memory, has_queue
from boxspec.verify.row import Attempt, Target
from boxspec.verify.scene import Scene

MOST_KEY = 2**31 - 1


@dataclass(frozen=True)
class Objects(Target):
    """Kernel objects with random names that a program inside makes. The kit removes them
    afterwards."""

    def attempts(self, scene: Scene) -> list[Attempt]:
        name, key = secrets.token_hex(8), secrets.randbelow(MOST_KEY) + 1
        scene.remove_objects(key, name)
        file = MEMORY / name
        scene.janitor.remove(file)
        made = [
            _attempt("i_shm_left", {"shm_key": key}, lambda: has_memory(key)),
            _attempt("l_queue_left", {"queue": f"/{name}"}, lambda: has_queue(name)),
            _attempt("d_create", {"denied": file}, file.exists, f"a new file in {MEMORY}"),
        ]
        own = _own_cgroup()
        if own is not None:
            folder = own / name
            scene.janitor.remove(folder)
            made.append(_attempt("l_cgroup_left", {"cgroup": folder}, folder.exists))
        return made


def _attempt(
    probe: str, params: dict[str, object], is_left: Callable[[], bool], shown: str = ""
) -> Attempt:
    what = shown or table()[probe].tries

    def effects(result: ProbeResult) -> list[str]:
        return [what] if is_left() else []

    return Attempt(probe, what, params, effects)


def _own_cgroup() -> Path | None:
    """Return the folder of a control group of the kit in which the caller can make a control
    group."""
    found = cgroup_folders(procs.cgroups(os.getpid()))
    return next((each for each in found if os.access(each, os.W_OK)), None)


class Cgroups:
    """The control groups that exist on the host before a start."""

    def __init__(self) -> None:
        self._before = {folder for top in cgroup_folders(["/"]) for folder in _below(top)}

    def left(self, ran_in: Iterable[str]) -> list[str]:
        """Return a line for each new control group.

        ran_in: the control groups in which the program ran. Other programs of the host make control
            groups too. So a new one counts only if the program ran in it or below it.
        """
        groups = {str(each) for name in ran_in for each in (Path(name), *Path(name).parents)}
        folders = {*cgroup_folders(groups)} - self._before
        found = sorted(each for each in folders if each.is_dir())
        return [f"control group {each} was left" for each in found]


def _below(top: Path) -> Iterator[Path]:
    for folder, _, _ in os.walk(top):
        yield Path(folder)
