"""The part of ptrace(2) and seccomp(2) that forced orders use, for x86-64 Linux."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import signal
import struct
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NoReturn

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.ptrace.restype = ctypes.c_long
_LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

CONT, GETREGS, SETREGS, SYSCALL = 7, 12, 13, 24
GETEVENTMSG, SEIZE, LISTEN = 0x4201, 0x4206, 0x4208
# TRACESYSGOOD, TRACEFORK, TRACEVFORK, TRACECLONE, TRACEEXEC, TRACEVFORKDONE, TRACESECCOMP, EXITKILL
OPTIONS = 0x1 | 0x2 | 0x4 | 0x8 | 0x10 | 0x20 | 0x80 | 0x100000
EVENT_FORK, EVENT_VFORK, EVENT_CLONE, EVENT_EXEC, EVENT_VFORK_DONE = 1, 2, 3, 4, 5
EVENT_SECCOMP, EVENT_STOP = 7, 128
SYSCALL_STOP = signal.SIGTRAP | 0x80
WALL = 0x40000000

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38
RET_TRACE, RET_ALLOW, X86_64 = 0x7FF00000, 0x7FFF0000, 0xC000003E
AT_NULL, AT_IGNORE, AT_RANDOM, AT_SYSINFO_EHDR = 0, 1, 25, 33
ADDR_NO_RANDOMIZE = 0x0040000

FIELDS = (
    *("r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx"),
    *("rsi", "rdi", "orig_rax", "rip", "cs", "eflags", "rsp", "ss", "fs_base", "gs_base"),
    *("ds", "es", "fs", "gs"),
)


class Regs(ctypes.Structure):
    """struct user_regs_struct."""

    _fields_ = tuple((name, ctypes.c_ulonglong) for name in FIELDS)

    rax: int
    rdx: int
    rsi: int
    rdi: int
    r8: int
    r10: int
    rip: int
    rsp: int
    orig_rax: int

    @property
    def result(self) -> int:
        """Return the result of the system call, negative for an error."""
        return signed(self.rax)


def signed(value: int, bits: int = 64) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def unsupported() -> str | None:
    """Return the reason why this host cannot force orders, or None."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return "orders are forced by means of ptrace on x86-64 Linux only"
    return None


def call(request: int, tid: int, data: object = None) -> int:
    """Make one ptrace call; raise ProcessLookupError if the thread has been killed meanwhile."""
    result = int(_LIBC.ptrace(request, tid, None, data))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"ptrace({request}): {os.strerror(number)}")
    return result


def get_regs(tid: int) -> Regs:
    regs = Regs()
    call(GETREGS, tid, ctypes.byref(regs))
    return regs


def set_regs(tid: int, regs: Regs) -> None:
    """Set the registers of a stopped thread. Do nothing if the thread was killed meanwhile."""
    with contextlib.suppress(ProcessLookupError):
        call(SETREGS, tid, ctypes.byref(regs))


def event_message(tid: int) -> int:
    message = ctypes.c_ulong()
    call(GETEVENTMSG, tid, ctypes.byref(message))
    return message.value


def seize(pid: int) -> None:
    call(SEIZE, pid, OPTIONS)


def read_memory(pid: int, at: int, size: int) -> bytes:
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        return os.pread(memory.fileno(), size, at)


def write_memory(pid: int, at: int, data: bytes) -> None:
    with Path(f"/proc/{pid}/mem").open("r+b", buffering=0) as memory:
        os.pwrite(memory.fileno(), data, at)


def read_text(pid: int, at: int) -> str:
    """Return the string at an address."""
    data = b""
    while b"\0" not in data and len(data) < 4096:
        # Read at most to the end of the page. The next page may not be mapped.
        data += read_memory(pid, at + len(data), min(256, 4096 - (at + len(data)) % 4096))
    return data.partition(b"\0")[0].decode(errors="replace")


def settle_start(pid: int) -> None:
    """Make a program that was just executed behave alike in each run.

    Its vDSO is hidden: then its clock reads are system calls, at which it can be held. The random
    bytes from the kernel are replaced by fixed bytes, because some runtimes schedule by them.
    """
    at = get_regs(pid).rsp
    words = struct.unpack("<q", read_memory(pid, at, 8))[0] + 2
    at += 8 * words
    while read_memory(pid, at, 8) != bytes(8):
        at += 8
    at += 8
    while (key := struct.unpack("<Q", read_memory(pid, at, 8))[0]) != AT_NULL:
        if key == AT_SYSINFO_EHDR:
            write_memory(pid, at, struct.pack("<Q", AT_IGNORE))
        if key == AT_RANDOM:
            place = struct.unpack("<Q", read_memory(pid, at + 8, 8))[0]
            write_memory(pid, place, bytes(range(1, 17)))
        at += 16


def trace_calls(numbers: Iterable[int]) -> None:
    """Make these system calls of this process and its descendants stop for their tracer."""
    wanted = sorted(numbers)
    code = [(0x20, 0, 0, 4), (0x15, 0, len(wanted) + 1, X86_64), (0x20, 0, 0, 0)]
    code += [(0x15, len(wanted) - i, 0, number) for i, number in enumerate(wanted)]
    code += [(0x06, 0, 0, RET_ALLOW), (0x06, 0, 0, RET_TRACE)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *line) for line in code))
    filter_of = struct.pack("<HxxxxxxQ", len(code), ctypes.addressof(program))
    if os.geteuid() != 0:
        _LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if _LIBC.prctl(PR_SET_SECCOMP, 2, ctypes.create_string_buffer(filter_of), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


def start(
    argv: Sequence[str], env: dict[str, str], calls: Iterable[int], prepare: Callable[[], None]
) -> int:
    """Start a program that is traced from its first instruction on; return its process id.

    prepare: called in the new process before it executes the program.
    """
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        prepare()
        _start_here(argv, env, calls, ours, theirs)
    os.close(ours)
    seize(pid)
    os.close(theirs)
    return pid


def _start_here(
    argv: Sequence[str], env: dict[str, str], calls: Iterable[int], ours: int, theirs: int
) -> NoReturn:
    try:
        os.close(theirs)
        os.read(ours, 1)
        os.close(ours)
        os.setpgid(0, 0)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        # Switch off the randomisation of addresses, because some runtimes order objects by address.
        _LIBC.personality(ADDR_NO_RANDOMIZE)
        trace_calls(calls)
        os.execvpe(argv[0], list(argv), env)
    finally:
        os._exit(127)
