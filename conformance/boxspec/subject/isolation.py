"""Run the shim as another user (`--isolate`), so that it cannot change or signal the kit.

Each process of the shim starts as that user, with the sources and programs of the kit mounted
read-only. The folders of cases belong to the kit; an access list lets the other user write there.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from boxspec.errors import UsageError
from boxspec.judge.verdict import HostLacks
from boxspec.places import ROOT
from boxspec.programs import programs
from boxspec.subject.observe.warden import Warden

FLAG = "--isolate"
# The first of the user ids for isolated shims, and their number. No distribution assigns these ids.
# Runs at the same time use different ids.
_FIRST, _MANY = 55_000, 5_000

# The binary form of an access list (acl(5)) in an extended attribute: a version, then tag, rights
# and user of each entry.
_VERSION, _NOBODY = 2, 2**32 - 1
_OWNER, _USER, _GROUP, _MASK, _OTHERS = 0x01, 0x02, 0x04, 0x10, 0x20
_ALL, _LOOK = 7, 5


@dataclass(frozen=True)
class Isolation:
    """The user of the shim, and the warden flags that set it."""

    uid: int
    state: Sequence[str]

    def admit(self, folder: Path) -> None:
        """Let the shim write in folders below this folder, but not list this folder."""
        entries = (
            (_OWNER, _ALL, _NOBODY),
            (_USER, _ALL, self.uid),
            (_GROUP, _LOOK, _NOBODY),
            (_MASK, _ALL, _NOBODY),
            (_OTHERS, _LOOK, _NOBODY),
        )
        rights = struct.pack("<I", _VERSION)
        rights += b"".join(struct.pack("<HHI", *entry) for entry in entries)
        folder.chmod(0o711)
        try:
            os.setxattr(folder, "system.posix_acl_default", rights)
        except OSError as why:
            problem = f"there are no access lists in {folder.parent}: {os.strerror(why.errno or 0)}"
            remedy = "name another TMPDIR, on tmpfs, ext4, xfs or btrfs"
            raise UsageError(FLAG, problem, remedy) from None


def isolation() -> Isolation:
    """Return the isolation of this run; raise a UsageError if the kit lacks the privileges."""
    if os.geteuid() != 0:
        problem = "only root can start the shim as another user"
        raise UsageError(FLAG, problem, "run the kit as root, on a machine without other data")
    uid = _FIRST + os.getpid() % _MANY
    state = ["--uid", str(uid)]
    for folder in (ROOT / "conformance", programs.folder):
        state += ["--read-only", str(folder)]
    _try(state)
    return Isolation(uid, tuple(state))


def _try(state: list[str]) -> None:
    """Run `true` with the flags, because the host may refuse namespaces or mounts."""
    with Path(os.devnull).open("r+b") as null:
        ends = {name: null.fileno() for name in ("stdin", "stdout", "stderr")}
        try:
            Warden(["/bin/true"], flags=state, env={}, **ends).close()
        except HostLacks as why:
            remedy = "run the kit where it may mount, with CAP_SYS_ADMIN"
            raise UsageError(FLAG, str(why), remedy) from None
