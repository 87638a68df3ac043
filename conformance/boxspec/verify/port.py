"""A listener of the kit on a TCP port of 127.0.0.1."""

from __future__ import annotations

import contextlib
import socket

from boxspec.verify.errors import UntestableError


class Port:
    """A listener.

    `came` returns a line once a client has connected.
    """

    def __init__(self, number: int) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        # Connections of the previous start may still be closing.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._came = False
        try:
            self._socket.bind(("127.0.0.1", number))
        except OSError as why:
            self._socket.close()
            problem = f"the kit cannot listen on 127.0.0.1:{number}: {why.strerror}"
            raise UntestableError(problem) from None
        self.number = int(self._socket.getsockname()[1])
        self._socket.listen(16)
        self._socket.setblocking(False)

    def came(self) -> list[str]:
        with contextlib.suppress(OSError):
            self._socket.accept()[0].close()
            self._came = True
        return [f"127.0.0.1:{self.number} was reached"] if self._came else []

    def __enter__(self) -> Port:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
