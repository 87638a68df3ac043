"""Files of the kernel, and disks. A program that may open them can take over the host, or leave its
limits.

The attempts open and close them, and neither read nor write.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from boxspec.mounts import cgroup_folders
from boxspec.subject.observe import procs
from boxspec.verify.reading import identified, named
from boxspec.verify.row import Attempt, Target
from boxspec.verify.scene import Scene

# The magic numbers of statfs(2), as the probe prints them.
PROC, SYSFS = "9fa0", "62656572"
# Files that change the kernel of the whole host, even if the writer is in its own namespaces.
FILES = {
    "/proc/sys/kernel/core_pattern": PROC,
    "/proc/sys/kernel/modprobe": PROC,
    "/proc/sys/vm/overcommit_memory": PROC,
    "/proc/sysrq-trigger": PROC,
    "/sys/kernel/uevent_helper": SYSFS,
    "/sys/power/state": SYSFS,
}
# Files of a control group. A program that writes them moves, stops or kills processes, leaves its
# limits, or names a program that the kernel starts.
CGROUP_FILES = ("cgroup.procs", "release_agent", "cgroup.kill", "cgroup.freeze")


@dataclass(frozen=True)
class KernelFile(Target):
    """A file of the kernel, opened for writing.

    system: the magic number of its file system. The command may have mounted another file over it,
        so an attempt counts only if it opened a file of this file system.
    """

    path: Path
    system: str

    def attempts(self, scene: Scene) -> list[Attempt]:
        shown = f"{self.path} opened for writing, nothing written"
        effects = named(f"system {self.system}", f"{self.path} was opened for writing")
        return [Attempt("w_etc", shown, {"path": self.path}, effects)]


@dataclass(frozen=True)
class CgroupFile(Target):
    """A file of a control group of the host, opened for writing.

    The command may give a program a control group of its own, so an attempt counts only if it
    opened the file of this group.
    """

    path: Path

    def attempts(self, scene: Scene) -> list[Attempt]:
        shown = f"{self.path} opened for writing, nothing written"
        effects = identified(self.path, f"{self.path} was opened for writing")
        return [Attempt("w_etc", shown, {"path": self.path}, effects)]


@dataclass(frozen=True)
class Disk(Target):
    """A disk of the host, opened for reading. It contains all files, even those hidden by a
    mount."""

    path: Path

    def attempts(self, scene: Scene) -> list[Attempt]:
        number = self.path.stat().st_rdev
        name = f"device {os.major(number)}:{os.minor(number)}"
        effects = named(name, f"{self.path} was opened for reading")
        params: dict[str, object] = {"path": self.path, "only_open": 1}
        return [Attempt("r_secret", f"{self.path} opened, nothing read", params, effects)]


def kernel_targets() -> tuple[Target, ...]:
    """Return the files and disks that the caller may open without a sandbox."""
    files = ((Path(name), system) for name, system in FILES.items())
    found = [KernelFile(path, system) for path, system in files if os.access(path, os.W_OK)]
    groups = [CgroupFile(path) for path in _cgroup_files()]
    return (*found, *groups, *(Disk(path) for path in disks()))


def _cgroup_files() -> list[Path]:
    """Return the files that the caller may write, in its own control groups and in those at the
    top."""
    groups = dict.fromkeys(cgroup_folders(["/", *procs.cgroups(os.getpid())]))
    files = [group / name for group in groups for name in CGROUP_FILES]
    return [path for path in files if os.access(path, os.W_OK)]


def disks() -> list[Path]:
    """Return the devices of the file systems of the root and of the home directory, if the caller
    can open them."""
    found = []
    for place in ("/", os.environ.get("HOME") or "/"):
        try:
            number = Path(place).stat().st_dev
            uevent = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/uevent")
            facts = dict(line.split("=", 1) for line in uevent.read_text().splitlines())
        except (OSError, ValueError):
            continue
        path = Path("/dev", facts.get("DEVNAME", ""))
        if path.is_block_device() and _opens(path):
            found.append(path)
    return list(dict.fromkeys(found))


def _opens(path: Path) -> bool:
    """True if the caller can open the file for reading. A host may refuse that for its own disk,
    whatever the mode of the file."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True
