"""Read the list of all faults.

A fault is one mistake that is put into the Python implementation, with the requirement that the
mistake breaks.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from boxspec.errors import HarnessError
from boxspec.judge.requirements import load
from boxspec.places import ROOT
from boxspec.subject.contract import names

SHIM = ROOT / "conformance" / "shims" / "faults" / "shim.py"


@dataclass
class Fault:
    id: str
    contract: str
    requirement: str | None
    role: str
    mistake: str
    seen: str

    @property
    def topic(self) -> str | None:
        return load()[self.requirement].topic if self.requirement else None


def catalogue() -> list[Fault]:
    listed = subprocess.run(
        [interpreter(), "-I", "-S", str(SHIM), "--list"], capture_output=True, check=False
    )
    if listed.returncode != 0:
        raise HarnessError(f"{SHIM} --list: {listed.stderr.decode(errors='replace').strip()}")
    faults = (Fault(**entry) for entry in json.loads(listed.stdout))
    # Leave out faults of contracts whose folder is not installed.
    return [fault for fault in faults if fault.contract in names()]


def interpreter() -> str:
    """Return a Python interpreter that other users can execute too, if there is one."""
    own = Path(sys.executable).resolve()
    if all(os.stat(place).st_mode & 0o001 for place in (own, *own.parents)):  # noqa: PTH116
        return str(own)
    for folder in ("/usr/local/bin", "/usr/bin"):
        found = shutil.which("python3", path=folder)
        if found is None:
            continue
        done = subprocess.run(
            [found, "-I", "-S", "-c", "import sys; print(sys.version_info >= (3, 11))"],
            capture_output=True,
            check=False,
        )
        if done.stdout.strip() == b"True":
            return found
    return str(own)


def shim_of(fault: Fault) -> str:
    return shlex.join([interpreter(), "-I", "-S", str(SHIM), "--fault", fault.id])
