"""The runner. The child runs this code, and then executes the module."""

from __future__ import annotations

import _signal
import os
import select

import module.lookup as lookup
import module.values as values
from exec.spawn import caller_environment
from files import write_all

PR_SET_PDEATHSIG = 1
PR_CAPBSET_DROP = 24
# CAP_SYS_PTRACE, CAP_SYS_ADMIN and CAP_PERFMON. With each of them a process may open
# /proc/PID/environ of any process.
READS_ANY_PROCESS = (19, 21, 38)
MOST_DESCRIPTORS = 1 << 20


def main(words: list[str]) -> int:
    """Execute the module. If that fails, print a line to stderr and return 1."""
    try:
        run(words)
    except Exception as why:
        os.write(2, f"module runner: {why}\n".encode("utf-8", "replace"))
    return 1


def run(words: list[str]) -> None:
    if len(words) != 1 or not lookup.is_id(words[0]):
        raise ValueError("one module id is wanted")
    close_inherited_descriptors()
    die_with_the_parent()
    environment = caller_environment()
    root = lookup.absolute(environment.get(lookup.ROOT) or b"./extensions")
    path = lookup.find(root, words[0])
    if path is None:
        raise ValueError(f"module not found: {words[0]}")
    hand_over_input()
    drop_capabilities()
    become(path, environment)


def close_inherited_descriptors() -> None:
    """Close descriptors that the caller left inheritable. The module must not get them."""
    os.closerange(3, MOST_DESCRIPTORS)


def die_with_the_parent() -> None:
    import ctypes

    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, _signal.SIGKILL)
    poll = select.poll()
    poll.register(1, 0)
    if any(events & select.POLLERR for _, events in poll.poll(0)):
        raise ValueError("nobody waits for the answer")


def drop_capabilities() -> None:
    """Drop the capabilities with which a module of root could read the environment of its
    caller."""
    import ctypes

    libc = ctypes.CDLL(None)
    for capability in READS_ANY_PROCESS:
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


def hand_over_input() -> None:
    """Read all of stdin and check it. Then replace stdin by a file with the same bytes."""
    pieces = []
    while piece := os.read(0, 1 << 20):
        pieces.append(piece)
    data = b"".join(pieces)
    check(data)
    fd = os.memfd_create("module-input")
    write_all(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    os.dup2(fd, 0)


def check(data: bytes) -> None:
    values.decode(data)


def become(path: bytes, environment: dict[bytes, bytes]) -> None:
    os.execve(path, [path], environment)
