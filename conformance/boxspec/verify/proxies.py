"""Services that a program could reach through a proxy of the sandbox, and a proxy for the control.

All services are listeners of the kit on 127.0.0.1, which no allowlist names. The attempts spell
this address in several ways, because a proxy may compare names but connect to addresses.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import re
import select
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from boxspec.proc_lines import proc_lines
from boxspec.subject.observe import procs
from boxspec.subject.observe.probes import ProbeResult, table
from boxspec.verify.port import Port
from boxspec.verify.row import Attempt, Target
from boxspec.verify.scene import Scene

# For each attempt: the probe, the target, and the header Host. For SOCKS the third word is a form
# of the target, or a name that follows the target and a null byte.
ATTEMPTS = (
    ("n_proxy_connect", "127.0.0.1", "127.0.0.1"),
    ("n_proxy_connect", "localhost", "localhost"),
    ("n_proxy_connect", "localhost.", "localhost."),
    ("n_proxy_connect", "127.1", "127.1"),
    ("n_proxy_connect", "2130706433", "2130706433"),
    ("n_proxy_connect", "0.0.0.0", "0.0.0.0"),
    ("n_proxy_connect", "[::ffff:127.0.0.1]", "[::ffff:127.0.0.1]"),
    ("n_proxy_connect", "LOCALHOST", "LOCALHOST"),
    ("n_proxy_connect", "0x7f000001", "0x7f000001"),
    ("n_proxy_connect", "0177.0.0.1", "0177.0.0.1"),
    ("n_proxy_connect", "[::1]", "[::1]"),
    ("n_proxy_connect", "127.0.0.1", "example.org"),
    ("n_proxy_get", "127.0.0.1", "127.0.0.1"),
    ("n_proxy_get", "127.0.0.1", "example.org"),
    ("n_proxy_get", "example.org@127.0.0.1", "example.org"),
    ("n_proxy_get", "[::1]", "[::1]"),
    ("n_proxy_socks", "127.0.0.1", ""),
    ("n_proxy_socks", "localhost", ""),
    ("n_proxy_socks", "127.1", ""),
    ("n_proxy_socks", "127.0.0.1", ".example.org"),
    ("n_proxy_socks", "127.0.0.1", "form=ipv4"),
    ("n_proxy_socks", "::1", "form=ipv6"),
    ("n_proxy_socks", "::ffff:127.0.0.1", "form=ipv6"),
    ("n_proxy_socks", "127.0.0.1", "form=4"),
    ("n_proxy_socks", "localhost", "form=4"),
)
FORMS = {"ipv4": ", as an address", "ipv6": ", as an address", "4": ", by SOCKS 4"}


@dataclass(frozen=True)
class Proxies(Target):
    """Services of this machine, reached through a proxy that the environment inside the sandbox
    names."""

    def attempts(self, scene: Scene) -> list[Attempt]:
        if scene.control:
            number = scene.enter(ControlProxy()).number
            scene.env["HTTP_PROXY"] = f"http://127.0.0.1:{number}"
            scene.env["ALL_PROXY"] = f"socks5h://127.0.0.1:{number}"
        known = {
            "addresses": " ".join(addresses_of_this_machine()),
            "net": str(Path("/proc/self/ns/net").readlink()),
            "inherited": " ".join(_inherited()),
        }
        return [_attempt(scene.port(0, both=True), known, *each) for each in ATTEMPTS]


def _inherited() -> list[str]:
    """Return the values of the caller's variables that may name a proxy."""
    found = [value for name, value in os.environ.items() if "proxy" in name.lower()]
    return [value for value in found if not re.search(r"\s", value)]


def addresses_of_this_machine() -> list[str]:
    """Return the addresses of this machine."""
    known = (procs.read("/proc/net/fib_trie") or b"").decode()
    v4 = re.findall(r"\|-- (\S+)\n\s+/32 host LOCAL", known)
    lines = proc_lines(procs.read("/proc/net/if_inet6"))
    v6 = [str(ipaddress.IPv6Address(bytes.fromhex(line.split()[0]))) for line in lines]
    return sorted({*v4, *v6})


def _attempt(listener: Port, known: Mapping[str, str], probe: str, to: str, host: str) -> Attempt:
    kind = table()[probe].tries.partition(" of the ")[0]
    more = f"\\0{host}" if probe == "n_proxy_socks" else f", Host {host}"
    params: dict[str, object] = {**known, "to": to, "port": listener.number, "host": host}
    params["form"] = "name"
    if host.startswith("form="):
        form = host.removeprefix("form=")
        params |= {"host": "", "form": form}
        more = FORMS[form]
    shown = f"{kind} to {to}" + (more if host not in ("", to) else "")

    def effects(result: ProbeResult) -> list[str]:
        return [f"a service on 127.0.0.1 was reached: {shown}"] if listener.came() else []

    return Attempt(probe, shown, params, effects)


class ControlProxy:
    """A proxy without rules for HTTP and SOCKS, on 127.0.0.1. It connects only to 127.0.0.1."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.number = int(self._listener.getsockname()[1])
        self._ours, self._theirs = socket.socketpair()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while self._has_client():
            client, _ = self._listener.accept()
            client.settimeout(2)
            with client, contextlib.suppress(OSError, ValueError, IndexError):
                _serve_one(client)

    def _has_client(self) -> bool:
        """Wait for the next client. Return False if the proxy is closed instead."""
        ready = select.poll()
        for each in (self._listener, self._theirs):
            ready.register(each, select.POLLIN)
        return any(fd == self._listener.fileno() for fd, _ in ready.poll())

    def __enter__(self) -> ControlProxy:
        return self

    def __exit__(self, *_: object) -> None:
        self._ours.close()
        self._thread.join()
        self._theirs.close()
        self._listener.close()


def _serve_one(client: socket.socket) -> None:
    first = client.recv(1)
    if first == b"\x04":
        with _reached(int.from_bytes(client.recv(512)[1:3], "big")) as target:
            client.sendall(b"\0\x5a\0\0\0\0\0\0")
            target.sendall(client.recv(64))
        return
    if first == b"\x05":
        client.recv(client.recv(1)[0])
        client.sendall(b"\x05\x00")
        head = client.recv(5)
        # The kind of the address decides its length; the first byte of a name is its length.
        length = {1: 3, 4: 15}.get(head[3], head[4])
        rest = client.recv(length + 2)
        with _reached(int.from_bytes(rest[-2:], "big")) as target:
            client.sendall(b"\x05\x00\x00\x01\0\0\0\0\0\0")
            target.sendall(client.recv(64))
        return
    text = first
    while b"\r\n\r\n" not in text:
        more = client.recv(4096)
        if not more:
            return
        text += more
    method, url, _ = text.split(b" ", 2)
    port = url.rstrip(b"/").rpartition(b":")[2]
    with _reached(int(port)) as target:
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        target.sendall(client.recv(64) if method == b"CONNECT" else text)


def _reached(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), 2)
