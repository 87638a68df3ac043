"""Limits of resources that a sandbox should enforce: processes, memory, file size, open files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from boxspec.errors import UsageError
from boxspec.subject.observe.probes import table
from boxspec.verify.errors import UntestableError
from boxspec.verify.row import Attempt, Target
from boxspec.verify.scene import Scene
from boxspec.verify.working import done

# For each limit: its probe, the parameter, the size of one unit of the parameter, and the highest
# limit that the kit tests.
LIMITS = {
    "processes": ("l_processes", "limit", 1, 4096),
    "memory": ("l_memory", "limit_kib", 1024, 8 << 30),
    "file-size": ("l_file_size", "limit", 1, (1 << 31) - 1),
    "open-files": ("l_open_files", "limit", 1, 1 << 16),
}
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True)
class Limit(Target):
    """A limit of a resource. The attempt exceeds the limit, which must be possible without the
    command."""

    name: str
    amount: int

    def attempts(self, scene: Scene) -> list[Attempt]:
        probe, param, unit, _ = LIMITS[self.name]
        if self.name == "memory" and self.amount > _available() // 2:
            raise UntestableError(
                "the amount is more than half of the memory that is available here"
            )
        params: dict[str, object] = {param: self.amount // unit, "ws": scene.work_folder()}
        shown = table()[probe].tries
        return [Attempt(probe, shown, params, done(f"{shown} ({self.amount})"))]


def limit_of(value: str) -> Limit:
    """Parse a limit such as `memory=512M`."""
    name, _, text = value.partition("=")
    found = re.fullmatch(r"(\d{1,12})([KMG]?)", text)
    if name not in LIMITS or found is None:
        known = ", ".join(LIMITS)
        raise UsageError(
            f"--limit {value}", "is not a NAME=NUMBER", f"write one of {known}: memory=1G"
        )
    amount = int(found[1]) * UNITS[found[2]]
    most = LIMITS[name][3]
    if amount > most:
        raise UntestableError(f"the kit tests amounts up to {_short(most)}")
    return Limit(name, amount)


def _short(amount: int) -> str:
    """Return an amount with the largest unit that divides it."""
    fitting = [(size, unit) for unit, size in UNITS.items() if amount % size == 0]
    size, unit = max(fitting)
    return f"{amount // size}{unit}"


def _available() -> int:
    """Return the available memory in bytes."""
    found = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.M)
    return int(found[1]) * 1024 if found else 0
