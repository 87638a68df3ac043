"""Create shared memory, queues and a key on the host for an attempt, and remove them afterwards."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import secrets
from collections.abc import Callable
from pathlib import Path

IPC_PRIVATE, IPC_CREAT, IPC_RMID, IPC_NOWAIT = 0, 0o1000, 0, 0o4000
GETVAL = 12
NOWHERE = ctypes.c_void_p(-1).value
MOST_KEY = 2**31 - 1
KEYCTL_JOIN, KEYCTL_UNLINK, SESSION_KEYRING = 1, 9, -3
ADD_KEY, KEYCTL = (217, 219) if platform.machine() == "aarch64" else (248, 250)
Params = dict[str, object]


class HostIpc:
    """All kinds of IPC objects.

    `params` has no entry for a kind that the host lacks. The probe of that kind then has no
    control.
    """

    def __init__(self, token: str) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.shmat.restype = ctypes.c_void_p
        self._stack = contextlib.ExitStack()
        self._token = token
        self.params: Params = {"key_name": token, "mq": f"/{token}"}
        self._make()

    def _make(self) -> None:
        calls = self._libc
        # A key of shared memory that does not exist yet. If an attempt creates it, it is removed at
        # the end.
        self.params["shm_key"] = self._left = secrets.randbelow(MOST_KEY) + 1
        self._stack.callback(self._remove_left)
        memory = calls.shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0o666)
        queue = calls.msgget(IPC_PRIVATE, IPC_CREAT | 0o666)
        semaphore = calls.semget(IPC_PRIVATE, 1, IPC_CREAT | 0o666)
        self._shm = self._made("shm", memory, calls.shmctl, IPC_RMID, None)
        self._msg = self._made("msg", queue, calls.msgctl, IPC_RMID, None)
        self._sem = self._made("sem", semaphore, calls.semctl, 0, IPC_RMID)
        name = str(self.params["mq"]).encode()
        self._mq = calls.mq_open(name, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o666, None)
        if self._mq >= 0:
            self._stack.callback(calls.mq_unlink, name)
            self._stack.callback(calls.mq_close, self._mq)
        self._file = Path("/dev/shm") / f"host-{self._token}"
        with contextlib.suppress(OSError):
            self._file.write_text(self._token)
        self._stack.callback(self._remove_file)
        self.params["dev_shm"] = self._file
        self._add_key()

    def _add_key(self) -> None:
        # Programs that the kit starts inherit the session keyring, as after a login. This thread
        # joins a new keyring, and the end of the block empties it.
        self._libc.syscall(KEYCTL, KEYCTL_JOIN, None, 0, 0, 0)
        secret = self._token.encode()
        name = str(self.params["key_name"]).encode()
        key = self._libc.syscall(ADD_KEY, b"user", name, secret, len(secret), SESSION_KEYRING)
        self.params["key"] = max(0, key)
        if key > 0:
            self._stack.callback(
                self._libc.syscall, KEYCTL, KEYCTL_UNLINK, key, SESSION_KEYRING, 0, 0
            )

    def _remove_left(self) -> bool:
        """Remove the shared memory that an attempt has created. Return False if there was none."""
        found = self._libc.shmget(self._left, 0, 0)
        if found >= 0:
            self._libc.shmctl(found, IPC_RMID, None)
        return bool(found >= 0)

    def _is_named(self) -> bool:
        """True if the queue still has its name."""
        found = self._libc.mq_open(str(self.params["mq"]).encode(), os.O_RDONLY | os.O_NONBLOCK)
        if found >= 0:
            self._libc.mq_close(found)
        return bool(found >= 0)

    def _made(self, name: str, number: int, remove: Callable[..., object], *words: object) -> int:
        """Pass the number of a created object to the probe as a parameter, and register its
        removal."""
        self.params[name] = number
        if number >= 0:
            self._stack.callback(remove, number, *words)
        return number

    def effects(self) -> list[str]:
        """Return the effects of an attempt on these objects."""
        effects = []
        if self._shm >= 0:
            effects += self._harm_of_memory()
        room = ctypes.create_string_buffer(64)
        if self._msg >= 0 and self._libc.msgrcv(self._msg, room, 32, 0, IPC_NOWAIT) >= 0:
            effects.append("a System V queue of the host: a message came")
        if self._remove_left():
            effects.append("System V shared memory: 64 MiB are left in the host")
        if self._sem >= 0 and self._libc.semctl(self._sem, 0, GETVAL) != 0:
            effects.append("a System V semaphore of the host: changed")
        large = ctypes.create_string_buffer(8192)
        if self._mq >= 0 and self._libc.mq_receive(self._mq, large, 8192, None) >= 0:
            effects.append("a POSIX queue of the host: a message came")
        if self._mq >= 0 and not self._is_named():
            effects.append("a POSIX queue of the host: removed")
        if self._file_has_changed():
            effects.append(f"{self._file}: written to")
        return effects

    def _file_has_changed(self) -> bool:
        # A program may have put a socket or a folder in place of the file.
        if not self._file.is_file() or self._file.is_symlink():
            return os.path.lexists(self._file)
        return self._file.read_text(errors="replace") != self._token

    def _remove_file(self) -> None:
        with contextlib.suppress(OSError):
            self._file.unlink()

    def _harm_of_memory(self) -> list[str]:
        at = self._libc.shmat(self._shm, None, 0)
        if at == NOWHERE:
            return ["System V shared memory of the host: removed"]
        written = ctypes.string_at(at, 7) == b"escaped"
        self._libc.shmdt(ctypes.c_void_p(at))
        return ["System V shared memory of the host: written to"] if written else []

    def close(self) -> None:
        self._stack.close()

    def __enter__(self) -> HostIpc:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
