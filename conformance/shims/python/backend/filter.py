"""Make a seccomp filter as BPF bytes, for x86-64 and aarch64."""

from __future__ import annotations

import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

EPERM, EAFNOSUPPORT, ENOSYS = 1, 97, 38
LOAD, EQUAL, GREATER, ANY_OF, RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000
AND = 0x54
NUMBER, ARCH, ARGUMENTS = 0, 4, 16
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
AF_INET, AF_INET6, AF_NETLINK = 2, 10, 16
SOCK_STREAM, SOCK_SEQPACKET = 1, 5
# The requests FS_IOC_SETFLAGS, FSSETXATTR, ENABLE_VERITY and SET_ENCRYPTION_POLICY.
OF_FILES = (0x40086602, 0x401C5820, 0x40806685, 0x800C6613)
# BTRFS_IOC_SUBVOL_CREATE, SNAP_CREATE and SNAP_DESTROY, each with its second version. They create
# and remove directories through a descriptor that was opened for reading. Landlock does not check
# this.
OF_BTRFS = (0x5000940E, 0x50009418, 0x50009401, 0x50009417, 0x5000940F, 0x5000943F)
NAMESPACES = 0x7E020080  # the CLONE_NEW* flags of clone and unshare
NEWEST = 469

ARCHES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CALLS = {
    "x86_64": {"socket": 41, "socketpair": 53, "ioctl": 16, "clone": 56, "unshare": 272},
    "aarch64": {"socket": 198, "socketpair": 199, "ioctl": 29, "clone": 220, "unshare": 97},
}
# These calls are given by number, because no library knows the names of the newest calls. The
# numbers are equal on all architectures.
NEW = {
    "io_uring": (425, 426, 427),
    "mounts": (428, 429, 430, 431, 432, 433, 442, 457, 458, 467),
}
DENIED = {
    "x86_64": {
        "keyrings": (248, 249, 250),
        "sysv": (29, 30, 31, 64, 65, 66, 67, 68, 69, 70, 71, 220),
        "queues": (240, 241, 242, 243, 244, 245),
        "bpf": (321,),
        "perf_event_open": (298,),
        "userfaultfd": (323,),
        "fanotify": (300, 301),
        "handles": (303, 304),
        "mounts": (165, 166, 155, 161),
        "modules": (175, 176, 313, 246, 320),
        "personality": (135,),
        "setns": (308,),
        "syslog": (103,),
        "ptrace": (101, 310, 311, 438),
    },
    "aarch64": {
        "keyrings": (217, 218, 219),
        "sysv": tuple(range(186, 198)),
        "queues": tuple(range(180, 186)),
        "bpf": (280,),
        "perf_event_open": (241,),
        "userfaultfd": (282,),
        "fanotify": (262, 263),
        "handles": (264, 265),
        "mounts": (40, 39, 41, 51),
        "modules": (105, 106, 273, 104, 294),
        "personality": (92,),
        "setns": (268,),
        "syslog": (116,),
        "ptrace": (117, 270, 271, 438),
    },
}
# All calls that change modes, owners, times and attributes; file_setattr is the newest.
METADATA = {
    "x86_64": (90, 91, 268, 92, 93, 94, 260, 132, 235, 261, 280, 188, 189, 190, 197, 198, 199),
    "aarch64": (52, 53, 54, 55, 88, 5, 6, 7, 14, 15, 16),
}
NEW_METADATA = (452, 463, 466, 469)
CLONE3 = 435


def statement(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("<HBBI", code, yes, no, value)


def answer(error: int) -> bytes:
    return statement(RETURN, ERRNO | error)


def groups() -> dict[str, Sequence[int]]:
    """Return the numbers of the refused calls, grouped by purpose."""
    own = DENIED[machine()]
    mounts = (*own["mounts"], *NEW["mounts"])
    return {**own, "io_uring": NEW["io_uring"], "mounts": mounts}


def machine() -> str:
    found = os.uname().machine
    return found if found in ARCHES else "x86_64"


def families(inet: bool) -> tuple[int, ...]:
    """Return the address families that the call socket may use.

    Unix sockets can only be made by socketpair.
    """
    return (AF_INET, AF_INET6, AF_NETLINK) if inet else (AF_NETLINK,)


def program(inet: bool, metadata: bool = True) -> bytes:
    """Return the whole filter.

    inet: allow Internet sockets.
    metadata: allow changes of mode, owner, times and attributes.
    """
    calls = CALLS[machine()]
    code = [
        statement(LOAD, ARCH),
        statement(EQUAL, ARCHES[machine()], 1, 0),
        statement(RETURN, KILL),
        statement(LOAD, NUMBER),
        # Calls of the x32 ABI have numbers above 0x40000000. Calls that are newer than this list
        # are unknown. Both are refused.
        statement(GREATER, NEWEST, 0, 1),
        answer(ENOSYS),
        statement(EQUAL, CLONE3, 0, 1),
        answer(ENOSYS),
    ]
    refused = [number for each in groups().values() for number in each]
    if not metadata:
        refused += [*METADATA[machine()], *NEW_METADATA]
    for number in refused:
        code += [statement(EQUAL, number, 0, 1), answer(EPERM)]
    code += with_first_argument(calls["socket"], allowed_families(inet))
    code += with_first_argument(calls["socketpair"], one_of_types(pairs()))
    for name in ("clone", "unshare"):
        code += with_first_argument(calls[name], any_flag(NAMESPACES))
    code += on_requests(calls["ioctl"], (*OF_BTRFS, *(() if metadata else OF_FILES)))
    return b"".join([*code, statement(RETURN, ALLOW)])


def with_first_argument(number: int, then: list[bytes]) -> list[bytes]:
    """Return instructions that run `then` if the system call has this number.

    `then` begins with loading the argument that decides.
    """
    return [statement(LOAD, NUMBER), statement(EQUAL, number, 0, len(then)), *then]


def one_of(values: Sequence[int], error: int) -> list[bytes]:
    """Return instructions that continue if the loaded value is one of these. Otherwise the call
    fails with the error."""
    equal = [statement(EQUAL, each, len(values) - i, 0) for i, each in enumerate(values)]
    return [*equal, answer(error)]


def allowed_families(inet: bool) -> list[bytes]:
    return [
        statement(LOAD, ARGUMENTS),
        *one_of(families(inet), EAFNOSUPPORT),
        # AF_NETLINK is allowed only with protocol 0, which is for the routing table.
        statement(EQUAL, AF_NETLINK, 0, 3),
        statement(LOAD, ARGUMENTS + 16),
        statement(EQUAL, 0, 1, 0),
        answer(EPERM),
    ]


def pairs() -> tuple[int, ...]:
    """Return the types that socketpair may use.

    Datagram sockets are left out: such a pair could send to any name, and receive from any process.
    """
    return (SOCK_STREAM, SOCK_SEQPACKET)


def one_of_types(types: Sequence[int]) -> list[bytes]:
    """Return instructions that check the second argument without its flags."""
    return [statement(LOAD, ARGUMENTS + 8), statement(AND, 0xF), *one_of(types, EPERM)]


def any_flag(flags: int) -> list[bytes]:
    return [statement(LOAD, ARGUMENTS), statement(ANY_OF, flags, 0, 1), answer(EPERM)]


def on_requests(number: int, more: Sequence[int]) -> list[bytes]:
    """Return instructions that refuse these ioctl requests.

    Only the low 32 bits are compared, because the kernel ignores the high bits.
    """
    then = [statement(LOAD, ARGUMENTS + 8)]
    for request in (TIOCSTI, TIOCLINUX, *more):
        then += [statement(EQUAL, request, 0, 1), answer(EPERM)]
    return [statement(LOAD, NUMBER), statement(EQUAL, number, 0, len(then)), *then]
