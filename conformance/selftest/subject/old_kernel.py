"""Execute a command with a filter that answers newer system calls by ENOSYS, like a kernel older
than 5.3 or the default filter of an older container engine.

A word before the command selects another filter: `pipes` refuses to enlarge a pipe, as a limit
does, `memory` refuses files in memory, `limits` to read or set limits, and `pidfds` to send a
signal to a pidfd, `events` to open an eventfd, and `access` to ask for access by effective ids."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

# clone3, close_range, openat2, pidfd_open and faccessat2: the same numbers on all architectures.
REFUSED = (435, 436, 437, 434, 439)
EPERM, ENOSYS = 1, 38
MEMFD_CREATE, PRLIMIT, EVENTFD2 = (
    (279, 261, 19) if platform.machine() == "aarch64" else (319, 302, 290)
)
PIDFD_SEND_SIGNAL, FACCESSAT2 = 424, 439
FCNTL, F_SETPIPE_SZ = 25 if platform.machine() == "aarch64" else 72, 1031
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
LOAD, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
# Offsets in struct seccomp_data: of the number of the call, and of its second argument.
NUMBER, ARGUMENT = 0, 24
ALLOW, ERRNO = 0x7FFF0000, 0x00050000


class Program(ctypes.Structure):
    """The kernel's struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def instruction(code: int, value: int, if_true: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, 0, value)


def newer_calls() -> list[bytes]:
    words = [instruction(LOAD, NUMBER)]
    words += [instruction(IF_EQUAL, nr, len(REFUSED) - at) for at, nr in enumerate(REFUSED)]
    return [*words, instruction(RETURN, ALLOW), instruction(RETURN, ERRNO | ENOSYS)]


def larger_pipes() -> list[bytes]:
    words = [instruction(LOAD, NUMBER), instruction(IF_EQUAL, FCNTL, 1)]
    words += [instruction(RETURN, ALLOW), instruction(LOAD, ARGUMENT)]
    words += [instruction(IF_EQUAL, F_SETPIPE_SZ, 1), instruction(RETURN, ALLOW)]
    return [*words, instruction(RETURN, ERRNO | EPERM)]


def one_call(number: int, error: int) -> list[bytes]:
    words = [instruction(LOAD, NUMBER), instruction(IF_EQUAL, number, 1)]
    return [*words, instruction(RETURN, ALLOW), instruction(RETURN, ERRNO | error)]


FILTERS = {
    "pipes": larger_pipes(),
    "memory": one_call(MEMFD_CREATE, ENOSYS),
    "limits": one_call(PRLIMIT, EPERM),
    "pidfds": one_call(PIDFD_SEND_SIGNAL, ENOSYS),
    "events": one_call(EVENTFD2, EPERM),
    "access": one_call(FACCESSAT2, EPERM),
}


def refuse(words: list[bytes]) -> None:
    code = ctypes.create_string_buffer(b"".join(words))
    program = Program(len(words), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        sys.exit(f"no filter: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    command = sys.argv[1:]
    if command[0] in FILTERS:
        refuse(FILTERS[command.pop(0)])
    else:
        refuse(newer_calls())
    os.execvp(command[0], command)
