"""Listen outside of the sandbox and record connections, by TCP, UDP and all kinds of Unix
sockets."""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path

Params = dict[str, object]


class Listeners:
    """Listeners, which are open inside the with-block.

    The kernel accepts connections by itself, so it is enough to check for them after the attempt.
    """

    def __init__(self, out: Path, token: str) -> None:
        self.params: Params = {}
        self._sockets: dict[str, socket.socket] = {}
        self._stack = contextlib.ExitStack()
        try:
            self._inet("tcp4", socket.AF_INET, socket.SOCK_STREAM, "127.0.0.1")
            with contextlib.suppress(OSError):
                self._inet("tcp6", socket.AF_INET6, socket.SOCK_STREAM, "::1")
            self._inet("udp4", socket.AF_INET, socket.SOCK_DGRAM, "127.0.0.1")
            with contextlib.suppress(OSError):
                self._inet("udp6", socket.AF_INET6, socket.SOCK_DGRAM, "::1")
            self._unix("abstract", socket.SOCK_STREAM, f"\0{token}")
            self._unix("abstract_dgram", socket.SOCK_DGRAM, f"\0dgram-{token}")
            self._by_path(out, "socket", socket.SOCK_STREAM)
            self._by_path(out, "socket-dgram", socket.SOCK_DGRAM)
        except BaseException:
            self.close()
            raise
        self.params["abstract"] = token
        self.params["abstract_dgram"] = f"dgram-{token}"
        # If the host has no IPv6, the probe gets port 1, which is closed, and has no control.
        for name in ("tcp6", "udp6"):
            self.params.setdefault(name, 1)

    def _listen(self, name: str, made: socket.socket, address: str | tuple[str, int]) -> None:
        """Bind the socket, and keep it under this name only if that succeeds."""
        self._stack.enter_context(made)
        made.setblocking(False)
        made.bind(address)
        if made.type == socket.SOCK_STREAM:
            # Accept MSG_FASTOPEN, if the host supports it.
            if made.family != socket.AF_UNIX:
                with contextlib.suppress(OSError):
                    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 16)
            made.listen(16)
        self._sockets[name] = made

    def _inet(self, name: str, family: int, kind: int, host: str) -> None:
        made = socket.socket(family, kind)
        self._listen(name, made, (host, 0))
        self.params[name] = made.getsockname()[1]

    def _unix(self, name: str, kind: int, address: str) -> None:
        self._listen(name, socket.socket(socket.AF_UNIX, kind), address)

    def _by_path(self, out: Path, name: str, kind: int) -> None:
        # The path of the socket may be too long for an address, so a short path through a
        # descriptor is used.
        fd = os.open(out, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self._unix(name, kind, f"/proc/self/fd/{fd}/{name}")
        finally:
            os.close(fd)
        (out / name).chmod(0o777)

    def hits(self) -> list[str]:
        """Return one line for each listener that a connection or a datagram has reached."""
        return [f"{name}: reached" for name, made in self._sockets.items() if _came(made)]

    def close(self) -> None:
        self._stack.close()

    def __enter__(self) -> Listeners:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _came(made: socket.socket) -> bool:
    try:
        if made.type == socket.SOCK_DGRAM:
            made.recv(4096)
        else:
            made.accept()[0].close()
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
