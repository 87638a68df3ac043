"""The Landlock backend.

A process uses three system calls to give up rights, for itself and its children.
"""

from __future__ import annotations

import os
import stat

import backend.context as context_
import backend.filter as filter_
import backend.inside as inside
import backend.naming as naming
import backend.starting as starting
from backend.claims import Claims, nothing, requested
from files import read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from backend.context import Context
    from backend.environment import Pairs
    from backend.rules import Rules

CREATE_RULESET = 444
READ = 1 << 0 | 1 << 2 | 1 << 3  # the rights execute, read_file and read_dir
WRITE_FILE, TRUNCATE, REFER, IOCTL_DEV = 1 << 1, 1 << 14, 1 << 13, 1 << 15
FIRST = (1 << 13) - 1
NET = 0b11
SCOPES = 0b11
TRUE = b"/bin/true"
DEVICES = (b"/dev/null", b"/dev/zero", b"/dev/full", b"/dev/tty", b"/dev/ptmx", b"/dev/pts")


def running_abi() -> int:
    """Return the version of the kernel's Landlock, or 0 without Landlock."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, int(libc.syscall(CREATE_RULESET, None, 0, 1)))


class Landlock:
    """One session.

    filters: True if a filter of system calls is installed too.
    """

    strict_metadata = False

    def __init__(self, filters: bool) -> None:
        self.filters = filters
        self.scratch: bytes | None = None
        self.rules: Rules | None = None

    # Probing ------------------------------------------------------------------------------

    def has_btrfs(self) -> bool:
        return b" btrfs " in read_file("/proc/self/mounts")

    def probe(self, profile: str, given: Rules | None, egress: Sequence[str] | None) -> Claims:
        wanted = requested(profile, egress, bool(given and given.deny_read))
        abi = self.abi()
        if abi < 1:
            return nothing(wanted, "this kernel has no Landlock, or it is switched off")
        why = self.fails_to_start()
        if why is not None:
            return nothing(wanted, f"nothing starts under Landlock here: {why}")
        made = Claims()
        made.fully("fs-write")
        if abi < 3:
            made.lacks("fs-write", f"ABI {abi} does not refuse truncate")
        if not self.filters and self.has_btrfs():
            made.lacks("fs-write", "btrfs makes and removes subvolumes by ioctl")
        made.fully("fs-metadata")
        if not self.refuses_metadata:
            made.lacks("fs-metadata", "mode, owner, times and attributes can be set everywhere")
        made.lacks("process", "processes outside are visible, and can be limited and slowed down")
        if abi < 6:
            made.lacks("process", f"ABI {abi} does not refuse signals")
        self.claim_network(made, profile, egress, abi)
        self.claim_ipc(made, abi)
        if self.filters:
            made.fully("kernel")
        if given is not None:
            self.claim_rules(made, given)
        return made

    @property
    def refuses_metadata(self) -> bool:
        """True if the filter refuses changes of metadata. It then refuses them for every path."""
        return self.filters and self.strict_metadata

    @property
    def warnings(self) -> Sequence[str]:
        inside_too = "strict_metadata: no metadata can be changed inside the root either"
        return [inside_too] if self.refuses_metadata else []

    def abi(self) -> int:
        return running_abi()

    def fails_to_start(self) -> str | None:
        ruleset = self.ruleset(b"/", "read-only")
        code = filter_.program(inet=True) if self.filters else None
        command = inside.command([TRUE], session=False, ruleset=ruleset, filter_=code)
        return starting.fails_to_start(command)

    def claim_network(
        self, made: Claims, profile: str, egress: Sequence[str] | None, abi: int
    ) -> None:
        if profile in ("no-network", "ci-only"):
            made.fully("network")
            if not self.filters:
                made.lacks("network", "Landlock refuses TCP alone: UDP and all else is open")
            if abi < 4 and not self.filters:
                made.lacks("network", f"ABI {abi} does not refuse TCP either")
        if egress and egress != ["*"]:
            made.lacks("network", "a list of egress is not filtered: the network is open")

    def claim_ipc(self, made: Claims, abi: int) -> None:
        # Reading is permitted for the whole system, because Landlock cannot exclude a part of a
        # permitted tree.
        made.lacks("ipc", "files of /dev/shm can be read")
        if self.filters:
            return
        made.lacks("ipc", "System V IPC, queues and keyrings are shared", "sockets by path too")
        if abi < 6:
            made.lacks("ipc", f"ABI {abi} does not refuse abstract sockets")

    def claim_rules(self, made: Claims, given: Rules) -> None:
        why = "Landlock cannot take away from what it grants"
        denies = [*given.deny_modify, *given.deny_read]
        if denies:
            made.lacks("fs-write", f"{why}: the rules that deny do not hold")
        if given.deny_read:
            made.lacks("fs-read", why)
        made.not_enforced += [naming.unenforced(rule, why) for rule in denies]

    # One session ----------------------------------------------------------------------------

    def prepare(self, context: Context, claims: Claims) -> None:
        self.rules = context.rules
        folder = b"/tmp/boxspec-scratch-" + os.urandom(8).hex().encode()
        os.mkdir(folder, 0o700)
        self.scratch = folder
        # The umask of the caller may have removed permission bits.
        os.chmod(folder, 0o700)

    def wrap(
        self, argv: Sequence[bytes], context: Context, cwd: bytes
    ) -> tuple[list[bytes], Pairs]:
        ruleset = self.ruleset(context.root, context.profile)
        code = None
        if self.filters:
            code = filter_.program(inet=not context.closed, metadata=not self.refuses_metadata)
        made = inside.command(argv, session=True, ruleset=ruleset, filter_=code)
        return made, [(b"TMPDIR", self.scratch or b"/nonexistent")]

    def ruleset(self, root: bytes, profile: str) -> dict[str, Any]:
        abi = self.abi()
        every = self.rights(abi)
        write = every & ~IOCTL_DEV
        paths = [(b"/", READ), (b"/dev", READ | every & IOCTL_DEV)]
        paths += [
            (device, READ | WRITE_FILE | every & (IOCTL_DEV | TRUNCATE)) for device in DEVICES
        ]
        if profile != "read-only":
            paths += [(path, write) for path in self.granted(root)]
        if self.scratch is not None:
            paths.append((self.scratch, write))
        cache = context_.cache(root) if profile == "full-dev" else None
        # If a root with rules lies in the cache, the cache is not granted: the grant would permit
        # paths that the rules deny.
        if cache is not None and (self.rules is None or not root.startswith(cache + b"/")):
            paths.append((cache, write))
        closed = profile in ("no-network", "ci-only")
        handled = (every, NET if closed and abi >= 4 else 0, SCOPES if abi >= 6 else 0)
        # An older kernel refuses a struct with fields that it does not know.
        size = 24 if abi >= 6 else 16 if abi >= 4 else 8
        # Rights for directories are invalid for a device file.
        paths = [(path, access & self.fitting(path)) for path, access in paths]
        return {"handled": handled, "size": size, "paths": paths}

    def rights(self, abi: int) -> int:
        every = FIRST
        for version, right in ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)):
            every |= right if abi >= version else 0
        return every

    def granted(self, root: bytes) -> list[bytes]:
        """Return the paths that may be modified: the root, or the paths that the policy grants."""
        if self.rules is None or "**" in self.rules.grants:
            return [root]
        paths = [
            os.path.join(root, os.fsencode(each.removesuffix("/**"))) for each in self.rules.grants
        ]
        # A path through a link is left out, because it may lead outside of the workspace.
        return [path for path in paths if os.path.realpath(path) == path]

    def fitting(self, path: bytes) -> int:
        whole = (1 << 16) - 1
        return whole if os.path.isdir(path) else 1 << 0 | WRITE_FILE | 1 << 2 | TRUNCATE | IOCTL_DEV

    def shutdown(self) -> None:
        if self.scratch is not None:
            remove(self.scratch)
            self.scratch = None


def remove(folder: bytes) -> None:
    """Remove a tree that a program has filled. A link is removed, but never followed.

    The tree may be deeper than Python can recurse, and its paths longer than the kernel accepts. So
    each directory in a directory of the folder is moved to the folder before it is emptied.
    """
    os.chmod(folder, 0o700)
    top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    while names := os.listdir(top):
        for name in names:
            if not is_directory(name, top):
                os.unlink(name, dir_fd=top)
                continue
            place = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
            for inner in os.listdir(place):
                if is_directory(inner, place):
                    new = "moved-" + os.urandom(8).hex()
                    os.rename(inner, new, src_dir_fd=place, dst_dir_fd=top)
                else:
                    os.unlink(inner, dir_fd=place)
            os.close(place)
            os.rmdir(name, dir_fd=top)
    os.close(top)
    os.rmdir(folder)


def is_directory(name: str, parent: int) -> bool:
    """True for a directory. Its mode becomes 0700, so that it can be opened and moved."""
    if not stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
        return False
    os.chmod(name, 0o700, dir_fd=parent)
    return True
