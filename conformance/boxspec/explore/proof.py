"""Check from outside that a process is confined. Without this proof no generated program runs."""

from __future__ import annotations

from pathlib import Path

from boxspec.subject.observe import procs
from boxspec.subject.observe.namespaces import NAMESPACES
from boxspec.verify.witness import Witness

# fixtures/programs/steps.c catches this signal if it failed to open a file outside for writing.
REFUSED_SIGNAL = 41
NO_SANDBOX = (
    "the process of the program has no mark of a sandbox: the same namespaces as the kit, no filter"
    " of system calls, and a file outside can be opened for writing"
)


class ConfinedWitness(Witness):
    """Sends the key only to a process that is confined."""

    def accepts(self, pid: int) -> str:
        """Return why the process must not get the key, or ""."""
        status = procs.Status(pid)
        refused = status.get("NoNewPrivs") == "1" and REFUSED_SIGNAL in status.mask("SigCgt")
        if refused or status.get("Seccomp", "0") != "0" or _has_own_namespace(pid):
            return ""
        return NO_SANDBOX


def _has_own_namespace(pid: int) -> bool:
    ours, theirs = (Path("/proc") / each / "ns" for each in ("self", str(pid)))
    for name in NAMESPACES:
        try:
            if (theirs / name).readlink() != (ours / name).readlink():
                return True
        except OSError:
            continue
    return False
