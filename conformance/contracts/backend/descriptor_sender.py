"""An observer outside that passes a file descriptor to each client of a socket in the workspace."""

from __future__ import annotations

import contextlib
import os
import select
import socket
from pathlib import Path
from threading import Thread

Params = dict[str, object]
NAME = "descriptor-sender"


class DescriptorSender:
    """Listens inside the with-block, and sends each client a descriptor that is open for writing.

    The sender reports no effect itself. A change of the file is the effect.
    """

    def __init__(self, workspace: Path, file: Path) -> None:
        self.params: Params = {}
        self._stack = contextlib.ExitStack()
        self._stopped, self._stop = os.pipe2(os.O_CLOEXEC)
        self._stack.callback(os.close, self._stopped)
        try:
            self._fd = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
            self._stack.callback(os.close, self._fd)
            self._socket = self._stack.enter_context(socket.socket(socket.AF_UNIX))
            # The path of the socket may be too long for an address, so a short path through a
            # descriptor is used.
            folder = os.open(workspace, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                self._socket.bind(f"/proc/self/fd/{folder}/{NAME}")
            finally:
                os.close(folder)
            (workspace / NAME).chmod(0o777)
            self._socket.listen(4)
            self._thread = Thread(target=self._send, name=NAME, daemon=True)
            self._thread.start()
        except BaseException:
            os.close(self._stop)
            self._stack.close()
            raise

    def _send(self) -> None:
        while True:
            ready, _, _ = select.select([self._socket.fileno(), self._stopped], [], [])
            if self._stopped in ready:
                return
            with contextlib.suppress(OSError), self._socket.accept()[0] as taker:
                socket.send_fds(taker, [b"."], [self._fd])

    def effects(self) -> list[str]:
        return []

    def __enter__(self) -> DescriptorSender:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._stop)
        self._thread.join()
        self._stack.close()
