"""Objects on the host that outlive programs: files in folders that all programs share, System V
objects, mounts and network interfaces.

Other programs of the host make such objects too. So a new object counts only if each of several
starts with the command leaves an object of its kind, and if the starts without it leave none.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from boxspec.mounts import mounts
from boxspec.proc_lines import proc_lines
from boxspec.subject.observe import procs
from boxspec.subject.observe.lines import Deadline, poll
from boxspec.verify.janitor import registered
from boxspec.verify.objects import QUEUES, SEGMENTS, ipc_of_this_user
from boxspec.verify.outcome import Both, Outcome, Tried

MEMORY = Path("/dev/shm")
MEMORIES = (MEMORY, Path(QUEUES))
# In these folders many programs make files, whatever folders the environment names. Some files stay
# for a while. So a file that only one start leaves is ignored.
BUSY = (Path("/tmp"), Path("/var/tmp"), Path("/run"), Path("/run/lock"))
# Other runs of the kit make folders with this prefix there.
OF_THE_KIT = "boxspec-"
# Other programs also make such objects for a short time, so an object counts only if it stays this
# long.
STAYS_S = 2.0
# The number of further starts after an object was left.
AGAIN = 2
# The version of an object: it changes if a program makes the object again. None while the object is
# in use.
Version = tuple[int, ...] | None


class Host:
    """The objects of this user on the host, during one run of the kit."""

    def __init__(self) -> None:
        self._before: dict[str, Version] = {}
        # Objects that earlier starts left. A later start may make an object of the same name again.
        self._left: set[str] = set()

    def note(self) -> None:
        """Note the objects that exist before a start."""
        self._before = _objects()

    def left(self) -> list[str]:
        """Return a line for each object that is new since `note` and that no process uses."""
        new = self._new()
        stays = Deadline(STAYS_S)
        while new and not stays.over():
            poll([], 0.05)
            new &= self._new()
        mapped = _mapped() if new else ""
        new = {name for name in new if name not in mapped}
        self._left |= new
        return [f"{each} was left" for each in sorted(new)]

    def _new(self) -> set[str]:
        return {
            name
            for name, version in _objects().items()
            if version is not None
            and (name not in self._before or self._is_made_again(name, version))
        }

    def _is_made_again(self, name: str, version: Version) -> bool:
        return name in self._left and version != self._before[name]


def _objects() -> dict[str, Version]:
    """Return the objects that no run of the kit has made."""
    of_runs = registered()
    found: dict[str, Version] = {}
    shared = {*MEMORIES, *BUSY, Path(os.environ.get("XDG_RUNTIME_DIR") or MEMORY)}
    for folder in {each.resolve() for each in shared if each.is_dir()}:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            found |= _files(entries, of_runs)
    for line in proc_lines(procs.read(SEGMENTS))[1:]:
        key, number, _, size, creator, _, attached, owner, *_ = line.split()
        if int(owner) == os.geteuid() and f"{SEGMENTS}/{key}" not in of_runs:
            used = attached != "0" or procs.exists(int(creator))
            found[f"System V shared memory {number} ({size} bytes)"] = None if used else ()
    for name, pids in ipc_of_this_user():
        found[name] = None if any(map(procs.exists, pids)) else ()
    covered: Counter[Path] = Counter()
    for mount in mounts():
        if of_runs.isdisjoint(map(str, (mount.at, *mount.at.parents))):
            # Several mounts at one place cover each other.
            covered[mount.at] += 1
            number = f" (number {covered[mount.at]})" if covered[mount.at] > 1 else ""
            found[f"the mount {mount.at}{number}"] = ()
    interfaces = proc_lines(procs.read("/proc/net/dev"))[2:]
    return found | {
        f"network interface {each.partition(':')[0].strip()}": () for each in interfaces
    }


def _files(entries: Iterable[os.DirEntry[str]], of_runs: set[str]) -> dict[str, Version]:
    found: dict[str, Version] = {}
    for each in entries:
        # Another process may have removed the file meanwhile.
        with contextlib.suppress(FileNotFoundError):
            st = each.stat(follow_symlinks=False)
            of_the_kit = each.name.startswith(OF_THE_KIT) or each.path in of_runs
            if st.st_uid == os.geteuid() and not of_the_kit:
                changed = 0 if stat.S_ISDIR(st.st_mode) else st.st_mtime_ns
                found[each.path] = (st.st_ino, changed)
    return found


def _mapped() -> str:
    """Return the memory mappings of all processes that this user may read."""
    pids = [each for each in os.listdir("/proc") if each.isdigit()]
    maps = [procs.read(f"/proc/{pid}/maps") or b"" for pid in pids]
    return b"".join(maps).decode("utf-8", "replace")


def repeated(first: Both, again: Callable[[], Both]) -> Both:
    """Return the first results, but only with those shared effects that further starts confirm."""
    tries = [first]
    while _confirmed(tries) and len(tries) <= AGAIN:
        tries.append(again())
    kinds, of_others = _confirmed(tries), _kinds(each.control for each in tries)
    tried = {key: _checked(each, kinds, of_others) for key, each in first.inside.tried.items()}
    return replace(first, inside=replace(first.inside, tried=tried))


def _confirmed(tries: list[Both]) -> set[str]:
    inside = [_kinds([each.inside]) for each in tries]
    return set.intersection(*inside) - _kinds(each.control for each in tries)


def _kinds(outcomes: Iterable[Outcome]) -> set[str]:
    tried = [each for outcome in outcomes for each in outcome.tried.values() if each.shared]
    return {_kind(effect) for each in tried for effect in each.effects}


def _kind(line: str) -> str:
    """Return the beginning of a line, which is the same in each start: names may end with random
    parts."""
    folder, slash, name = line.rpartition("/")
    return f"{folder}/{name[:3]}" if slash else re.split(r"\d", line)[0]


def _checked(tried: Tried, kinds: set[str], of_others: set[str]) -> Tried:
    if not tried.shared:
        return tried
    effects = [each for each in tried.effects if _kind(each) in kinds]
    known = kinds | of_others
    unclear = [each for each in tried.effects if _kind(each) not in known and not _is_common(each)]
    why = "but not in each start: another program may have made it"
    return replace(tried, effects=effects, doubt=f"{unclear[0]}, {why}" if unclear else "")


def _is_common(line: str) -> bool:
    """True for a file in a folder that is not one of MEMORIES."""
    return line.startswith("/") and not line.startswith(tuple(f"{each}/" for each in MEMORIES))
