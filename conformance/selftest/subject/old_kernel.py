"""Execute a command with a filter that answers newer system calls by ENOSYS, like a kernel older
than 5.3 or the default filter of an older container engine."""

from __future__ import annotations

import ctypes
import os
import struct
import sys

# clone3, close_range, openat2, pidfd_open and faccessat2: the same numbers on all architectures.
REFUSED = (435, 436, 437, 434, 439)
ENOSYS = 38
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
LOAD_NUMBER, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000


class Program(ctypes.Structure):
    """The kernel's struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def instruction(code: int, value: int, if_true: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, 0, value)


def refuse() -> None:
    words = [instruction(LOAD_NUMBER, 0)]
    words += [instruction(IF_EQUAL, nr, len(REFUSED) - at) for at, nr in enumerate(REFUSED)]
    words += [instruction(RETURN, ALLOW), instruction(RETURN, ERRNO | ENOSYS)]
    code = ctypes.create_string_buffer(b"".join(words))
    program = Program(len(words), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        sys.exit(f"no filter: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    refuse()
    os.execvp(sys.argv[1], sys.argv[1:])
