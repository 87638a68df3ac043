"""Unix sockets of the kit at the paths of a user's services.

The command under test may itself talk to a service, for example to ask whether an agent runs. So a
connection proves nothing: only the token of a program inside counts. The kit closes a connection
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
# The largest number of connected clients. If there is another one, the oldest is closed.
MOST_CLIENTS = 100
BACKLOG = 16


class SocketFile:
    """A Unix socket with a path, and the tokens that clients have sent to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # For each token: True if a client has sent it. Other texts are not kept, because programs
        # may send any number of them.
        self._tokens: dict[str, bool] = {}
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # The path may be too long for an address, so a short path through a descriptor is used.
        fd = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self.listener.bind(f"/proc/self/fd/{fd}/{path.name}")
        finally:
            os.close(fd)
        self.listener.listen(BACKLOG)
        self.listener.setblocking(False)

    def expect(self, token: str) -> None:
        """Watch for a token. A program inside must not send it before this call."""
        self._tokens[token] = False

    def receive(self, client: socket.socket) -> bool:
        """Search the client's text for tokens. Return False if no text has arrived yet."""
        text = b""
        try:
            text = client.recv(LONGEST)
        except BlockingIOError:
            return False
        except OSError:
            pass
        for token in [each for each in self._tokens if each.encode() in text]:
            self._tokens[token] = True
        return True

    def received(self, token: str) -> bool:
        return self._tokens[token]


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
        rounds = 0
        with selectors.DefaultSelector() as ready:

            def close(client: socket.socket) -> None:
                ready.unregister(client)
                del clients[client]
                client.close()

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
                    if clients[client].receive(client):
                        close(client)
                while len(clients) > MOST_CLIENTS:
                    close(next(iter(clients)))
                # The question is answered once only it is left. If programs connect without end,
                # it is answered once all connections that waited before it must have been read.
                rounds += self._idle in found
                if found == [self._idle] or rounds > 2 * BACKLOG:
                    rounds = 0
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
