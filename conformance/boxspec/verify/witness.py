"""Evidence from the kernel that a process of this host runs the probe program, and a key for it.

The command can read all that a scene contains, and print what it likes. So the key for the seals of
the records is in no file: it is sent by signals to a process whose executable is the probe program.
"""

from __future__ import annotations

import ctypes
import secrets
from pathlib import Path

from boxspec.subject.observe import procs

# The same numbers are in fixtures/probes/batch.c. The C library reserves the lower ones.
KEY_SIGNAL = 40
KEY_PARTS, PART_DIGITS = 4, 8

_libc = ctypes.CDLL(None, use_errno=True)


class Witness:
    """Looks for the process, once its program has been started.

    program: the file of the scene, whose name no other process has. key: hexadecimal digits. why:
        the reason why no process has the key. cgroups: the control groups of the process.
    """

    def __init__(self, program: Path) -> None:
        self._name = program.name
        self._content = program.read_bytes()
        self._parts = [secrets.randbits(4 * PART_DIGITS) for _ in range(KEY_PARTS)]
        self.key = "".join(f"{part:0{PART_DIGITS}x}" for part in self._parts)
        self.found = False
        self.cgroups: list[str] = []
        self.why = "no process of this host ran the program"

    def look(self) -> bool:
        """Send the key to the process if it is ready; return True once it has the key."""
        for pid in () if self.found else procs.named(self._name):
            # The program expects the key after it has read its plan.
            if KEY_SIGNAL in procs.Status(pid).mask("SigCgt") and self._runs_the_program(pid):
                self.cgroups = procs.cgroups(pid)
                self.found = all(_send(pid, part) for part in self._parts)
                self.why = "" if self.found else "the process of the program takes no signal"
        return self.found

    def _runs_the_program(self, pid: int) -> bool:
        try:
            same = Path(f"/proc/{pid}/exe").read_bytes() == self._content
        except (FileNotFoundError, ProcessLookupError):
            # It has ended.
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
