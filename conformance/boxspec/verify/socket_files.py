"""Unix sockets of the kit at the places in which services of a user listen.

The command under test may itself talk to such a service, for example to ask whether an agent runs.
So a connection proves nothing: only text that a program inside sends counts. A connection ends
after its first text, as if the service refused the request. So the command does not wait for an
answer.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import threading
from pathlib import Path

LONGEST = 1 << 16


class SocketFile:
    """A Unix socket with a path, and the texts that clients have sent to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._heard: list[bytes] = []
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # The path may be too long for an address, so a short path through a descriptor is used.
        fd = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self.listener.bind(f"/proc/self/fd/{fd}/{path.name}")
        finally:
            os.close(fd)
        self.listener.listen(16)
        self.listener.setblocking(False)

    def hear(self, client: socket.socket) -> bool:
        """Keep what the client has sent. Return False if more may follow."""
        try:
            self._heard.append(client.recv(LONGEST))
        except BlockingIOError:
            return False
        except OSError:
            pass
        return True

    def heard(self, token: str) -> bool:
        return any(token.encode() in each for each in self._heard)


class SocketFiles:
    """A thread that serves the sockets, inside the with-block."""

    def __init__(self) -> None:
        self.by_name: dict[str, SocketFile] = {}
        self._stop, self._stopped = socket.socketpair()
        self._asked, self._idle = socket.socketpair()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def settle(self) -> None:
        """Return once everything is read that clients had sent before this call."""
        with contextlib.suppress(OSError):
            self._asked.send(b"?")
            self._asked.recv(1)

    def _serve(self) -> None:
        clients: dict[socket.socket, SocketFile] = {}
        listeners = {each.listener: each for each in self.by_name.values()}
        with selectors.DefaultSelector() as ready:
            for each in (self._stopped, self._idle, *listeners):
                ready.register(each, selectors.EVENT_READ)
            while True:
                found = [key.fileobj for key, _ in ready.select()]
                if self._stopped in found:
                    break
                for each in [each for each in found if each in listeners]:
                    assert isinstance(each, socket.socket)
                    with contextlib.suppress(OSError):
                        client = each.accept()[0]
                        client.setblocking(False)
                        ready.register(client, selectors.EVENT_READ)
                        clients[client] = listeners[each]
                for client in [each for each in clients if each in found]:
                    if clients[client].hear(client):
                        ready.unregister(client)
                        del clients[client]
                        client.close()
                # Everything that came before the question is read once only the question is left.
                if found == [self._idle]:
                    self._idle.recv(1)
                    self._idle.send(b"!")
        for client in clients:
            client.close()

    def __enter__(self) -> SocketFiles:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.close()
        self._thread.join()
        for each in self.by_name.values():
            each.listener.close()
        for end in (self._stopped, self._asked, self._idle):
            end.close()
