"""`--isolate`: the shim is another user, who can neither change the kit nor signal it.

Each process of the shim starts as that user, and sees the sources and the programs of the kit
read-only. Folders of cases are the kit's; an access list lets that user write there.
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
# No distribution gives these to anybody. Two runs beside each other have two of them.
_FIRST, _MANY = 55_000, 5_000

# An access list as acl(5) keeps it in an attribute: a version, then tag, rights and user of each.
_VERSION, _NOBODY = 2, 2**32 - 1
_OWNER, _USER, _GROUP, _MASK, _OTHERS = 0x01, 0x02, 0x04, 0x10, 0x20
_ALL, _LOOK = 7, 5


@dataclass(frozen=True)
class Isolation:
    """Who the shim is, and how the warden makes it so."""

    uid: int
    state: Sequence[str]

    def admit(self, folder: Path) -> None:
        """The shim may write in all that will be made there, and not list what there is."""
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
            said = f"there are no access lists in {folder.parent}: {os.strerror(why.errno or 0)}"
            remedy = "name another TMPDIR, on tmpfs, ext4, xfs or btrfs"
            raise UsageError(FLAG, said, remedy) from None


def isolation() -> Isolation:
    """For this run; UsageError where the kit may not do that."""
    if os.geteuid() != 0:
        said = "only root can start the shim as another user"
        raise UsageError(FLAG, said, "run the kit as root on a machine that holds nothing else")
    uid = _FIRST + os.getpid() % _MANY
    state = ["--uid", str(uid)]
    for folder in (ROOT / "conformance", programs.folder):
        state += ["--read-only", str(folder)]
    _try(state)
    return Isolation(uid, tuple(state))


def _try(state: list[str]) -> None:
    """Once, with a program that does nothing: a host may refuse namespaces and mounts."""
    with Path(os.devnull).open("r+b") as null:
        ends = {name: null.fileno() for name in ("stdin", "stdout", "stderr")}
        try:
            Warden(["/bin/true"], flags=state, env={}, **ends).close()
        except HostLacks as why:
            remedy = "run the kit where it may mount, with CAP_SYS_ADMIN"
            raise UsageError(FLAG, str(why), remedy) from None
