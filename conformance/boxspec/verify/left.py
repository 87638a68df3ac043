"""Find shared memory, queues and control groups that outlive the command and that no process
uses."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from boxspec.subject.observe import procs
from boxspec.subject.observe.lines import Deadline, poll
from boxspec.subject.observe.probes import ProbeResult, table
from boxspec.verify.janitor import registered
from boxspec.verify.objects import QUEUES, SEGMENTS, has_memory, has_queue, ipc_of_this_user
from boxspec.verify.row import Attempt, Target
from boxspec.verify.scene import Scene

MOST_KEY = 2**31 - 1
MEMORY = Path("/dev/shm")
# Prefix of folders that other runs of the kit have in memory.
OF_THE_KIT = "boxspec-"
STAYS_S = 2.0


@dataclass(frozen=True)
class Objects(Target):
    """Kernel objects with random names that a program inside makes. The kit removes them."""

    def attempts(self, scene: Scene) -> list[Attempt]:
        name, key = secrets.token_hex(8), secrets.randbelow(MOST_KEY) + 1
        scene.remove_objects(key, name)
        file = MEMORY / name
        scene.removed_at_the_end(file)
        made = [
            _attempt("i_shm_left", {"shm_key": key}, lambda: has_memory(key)),
            _attempt("l_queue_left", {"queue": f"/{name}"}, lambda: has_queue(name)),
            _attempt("d_create", {"denied": file}, file.exists, f"a new file in {MEMORY}"),
        ]
        own = _own_cgroup()
        if own is not None:
            folder = own / name
            scene.removed_at_the_end(folder)
            made.append(_attempt("l_cgroup_left", {"cgroup": folder}, folder.exists))
        return made


def _attempt(
    probe: str, params: dict[str, object], is_left: Callable[[], bool], shown: str = ""
) -> Attempt:
    what = shown or table()[probe].tries

    def effects(result: ProbeResult) -> list[str]:
        return [what] if is_left() else []

    return Attempt(probe, what, params, effects)


def _hierarchies() -> Iterator[Path]:
    """Yield the folders at which control groups are mounted."""
    for line in (procs.read("/proc/self/mounts") or b"").decode("utf-8", "replace").splitlines():
        _, folder, kind, *_ = line.split(" ")
        if kind in ("cgroup", "cgroup2"):
            yield Path(folder)


def _own_cgroup() -> Path | None:
    """Return the folder of a control group of the kit in which the caller can make one."""
    names = procs.cgroups(os.getpid())
    found = (top / name.lstrip("/") for top in _hierarchies() for name in names)
    return next((each for each in found if os.access(each, os.W_OK)), None)


class Before:
    """The objects and control groups that exist on the host before a start."""

    def __init__(self) -> None:
        self._objects = {*_objects()}
        self._cgroups = {folder for top in _hierarchies() for folder in _below(top)}

    def left(self, ran_in: Iterable[str]) -> list[str]:
        """Return a line for each new object of this user that no process uses, and for each new
        control group.

        ran_in: the control groups in which the program ran. New control groups count only below
            these or their ancestors, because other programs of the host make control groups too.
        """
        new = _unused() - self._objects
        # Other programs of the host also make such objects for a short time, so only objects that
        # stay count.
        stays = Deadline(STAYS_S)
        while new and not stays.over():
            poll([], 0.05)
            new &= _unused()
        mapped = _mapped() if new else ""
        groups = {
            top / above
            for top in _hierarchies()
            for name in ran_in
            for above in (Path(name.lstrip("/")), *Path(name.lstrip("/")).parents)
        }
        found = [name for name in new if name not in mapped]
        found += [f"control group {each}" for each in groups - self._cgroups if each.is_dir()]
        return [f"{each} was left" for each in sorted(found)]


def _objects() -> dict[str, bool]:
    """Return for each object of this user whether a process uses it, as far as the object shows
    this.

    Objects of other runs of the kit are left out.
    """
    found = {}
    of_runs = registered()
    folders = [folder for folder in (MEMORY, Path(QUEUES)) if folder.is_dir()]
    for each in (path for folder in folders for path in folder.iterdir()):
        # Another process may have removed the object meanwhile.
        with contextlib.suppress(FileNotFoundError):
            is_other = not each.name.startswith(OF_THE_KIT) and str(each) not in of_runs
            if is_other and each.lstat().st_uid == os.geteuid():
                found[str(each)] = False
    for line in (procs.read(SEGMENTS) or b"").decode().splitlines()[1:]:
        key, number, _, size, creator, _, attached, owner, *_ = line.split()
        if int(owner) == os.geteuid() and f"{SEGMENTS}/{key}" not in of_runs:
            used = attached != "0" or procs.exists(int(creator))
            found[f"System V shared memory {number} ({size} bytes)"] = used
    return found | {name: any(map(procs.exists, pids)) for name, pids in ipc_of_this_user()}


def _unused() -> set[str]:
    return {name for name, used in _objects().items() if not used}


def _mapped() -> str:
    """Return the mappings of all processes that this user may read."""
    pids = [each for each in os.listdir("/proc") if each.isdigit()]
    maps = [procs.read(f"/proc/{pid}/maps") or b"" for pid in pids]
    return b"".join(maps).decode("utf-8", "replace")


def _below(top: Path) -> Iterator[Path]:
    for folder, _, _ in os.walk(top):
        yield Path(folder)
