"""A listener of the kit on a TCP port of 127.0.0.1."""

from __future__ import annotations

import contextlib
import socket

from boxspec.verify.errors import UntestableError


class _Listener:
    """A listener. Once a client has connected, `reached` stays true."""

    def __init__(self, family: socket.AddressFamily) -> None:
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        self._came = False

    def listen(self) -> None:
        self._socket.listen(16)
        self._socket.setblocking(False)

    def reached(self) -> bool:
        with contextlib.suppress(OSError):
            self._socket.accept()[0].close()
            self._came = True
        return self._came

    def __exit__(self, *_: object) -> None:
        self._socket.close()


class Port6(_Listener):
    """A TCP port of ::1."""

    def __init__(self, number: int) -> None:
        super().__init__(socket.AF_INET6)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind(("::1", number))
        except OSError:
            self._socket.close()
            raise
        self.listen()


class Port(_Listener):
    """A TCP port of 127.0.0.1, and of ::1 if `both` is true and the host has this address.

    `came` returns a line once a client has connected.
    """

    def __init__(self, number: int, *, both: bool = False) -> None:
        super().__init__(socket.AF_INET)
        self._other: Port6 | None = None
        # Allow the port to be reused at once: connections of the previous start may still be
        # closing.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind(("127.0.0.1", number))
        except OSError as why:
            self._socket.close()
            problem = f"the kit cannot listen on 127.0.0.1:{number}: {why.strerror}"
            raise UntestableError(problem) from None
        self.number = int(self._socket.getsockname()[1])
        self.listen()
        if both:
            with contextlib.suppress(OSError):
                self._other = Port6(self.number)

    def reached(self) -> bool:
        other = self._other is not None and self._other.reached()
        return super().reached() or other

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        if self._other is not None:
            self._other.__exit__()

    def came(self) -> list[str]:
        return [f"127.0.0.1:{self.number} was reached"] if self.reached() else []

    def __enter__(self) -> Port:
        return self
