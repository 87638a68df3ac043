"""Find the process that runs the probe program, and send it the key for its records.

The command under test can read every file of a scene and print any text, so it could make up
records. Therefore the probe program marks its records with a key that is in no file. The kit looks
in /proc for the process whose executable is the probe program, and sends it the key as signals.
"""

from __future__ import annotations

import ctypes
import secrets
from pathlib import Path

from boxspec.subject.observe import procs
from boxspec.verify.confinement import UNKNOWN, of_process

# fixtures/programs/lib/witness.c has the same numbers. The C library reserves lower real-time
# signals for itself.
KEY_SIGNAL = 40
KEY_PARTS, PART_DIGITS = 4, 8

_libc = ctypes.CDLL(None, use_errno=True)


class Witness:
    """Looks for the process of the program after the start.

    program: the file of the scene. No other process has its name.
    key: hexadecimal digits.
    why: the reason why no process has the key.
    cgroups: the control groups of the process.
    confinement: its namespaces and privileges.
    """

    def __init__(self, program: Path) -> None:
        self._name = program.name
        self._content = program.read_bytes()
        self._parts = [secrets.randbits(4 * PART_DIGITS) for _ in range(KEY_PARTS)]
        self.key = "".join(f"{part:0{PART_DIGITS}x}" for part in self._parts)
        self.found = False
        self.cgroups: list[str] = []
        self.confinement = UNKNOWN
        self.why = "no process of this host ran the program"

    def look(self) -> bool:
        """Send the key to the process if it is ready; return True once it has the key."""
        for pid in () if self.found else procs.named(self._name):
            # The program installs its handler after it has read its plan.
            if KEY_SIGNAL in procs.Status(pid).mask("SigCgt") and self._runs_the_program(pid):
                if why := self.accepts(pid):
                    self.why = why
                    continue
                self.cgroups, self.confinement = procs.cgroups(pid), of_process(pid)
                self.found = all(_send(pid, part) for part in self._parts)
                self.why = "" if self.found else "the process of the program takes no signal"
        return self.found

    def accepts(self, pid: int) -> str:
        """Return why this process must not get the key, or ""."""
        return ""

    def _runs_the_program(self, pid: int) -> bool:
        try:
            same = Path(f"/proc/{pid}/exe").read_bytes() == self._content
        except (FileNotFoundError, ProcessLookupError):
            # The process has ended.
            return False
        except OSError as why:
            self.why = f"the process of the program cannot be identified: {why.strerror}"
            return False
        if not same:
            self.why = "another program ran with the name of the program"
        return same


class _Value(ctypes.Structure):
    _fields_ = (("pointer", ctypes.c_void_p),)


def _send(pid: int, part: int) -> bool:
    return int(_libc.sigqueue(pid, KEY_SIGNAL, _Value(part))) == 0
