"""A sandbox with a proxy for HTTP and SOCKS, for the self-tests of `verify`.

The first word names a mistake of the proxy. With `none` it refuses each address of this machine.
The other words are a program. bubblewrap starts it with the proxy in its environment.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import re
import socket
import subprocess
import sys
import threading
from pathlib import Path

WORDS = ("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--unshare-pid", "--cap-drop", "ALL")


def addresses(host: str, port: int) -> list[str]:
    with contextlib.suppress(OSError):
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return [str(each[4][0]) for each in found]
    return []


def is_local(address: str) -> bool:
    found = ipaddress.ip_address(address)
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_loopback or (mapped or found).is_unspecified


def may(mistake: str, host: str, port: int, form: str = "name", header: str = "") -> bool:
    """True if the proxy connects to this host. form: of the target in the request."""
    found = addresses(host, port)
    if mistake == "only-names" and form == "address":
        return True
    if mistake == "only-socks-5" and form == "old":
        return True
    if mistake == "header" and header:
        found = addresses(header, port) or ["192.0.2.1"]
    if mistake == "exact-names":
        return host not in ("localhost", "localhost.") and not re.match(r"[\d\[:.]", host)
    if mistake == "only-ipv4":
        return not any(is_local(each) for each in found if each != "::1")
    return not any(is_local(each) for each in found)


def http(mistake: str, text: bytes) -> tuple[str, int, bool]:
    """Return host and port of a request, and whether the proxy allows it."""
    lines = text.decode("latin-1").split("\r\n")
    method, url, _ = lines[0].split(" ", 2)
    target = url.partition("://")[2].partition("/")[0] if method != "CONNECT" else url
    header = next((each[6:] for each in lines if each.startswith("Host: ")), "")
    name, _, port = target.rpartition(":")
    host = name.rpartition("@")[2].strip("[]")
    seen = name.partition("@")[0].strip("[]") if mistake == "before-the-at" else host
    if seen != host:
        return host, int(port), seen == "example.org"
    decides = header if method != "CONNECT" else ""
    return host, int(port), may(mistake, host, int(port), header=decides)


def serve(mistake: str, client: socket.socket) -> None:
    first = client.recv(1)
    if first == b"\x04":
        head = client.recv(512)
        port, host = int.from_bytes(head[1:3], "big"), socket.inet_ntoa(head[3:7])
        if host == "0.0.0.1":
            host = head[8:].rstrip(b"\0").decode()
        right, yes, no = may(mistake, host, port, "old"), b"\0\x5a" + bytes(6), b"\0\x5b" + bytes(6)
    elif first == b"\x05":
        client.recv(client.recv(1)[0])
        client.sendall(b"\x05\x00")
        kind = client.recv(4)[3]
        size = {1: 4, 4: 16}.get(kind) or client.recv(1)[0]
        name, port = client.recv(size), int.from_bytes(client.recv(2), "big")
        family = {1: socket.AF_INET, 4: socket.AF_INET6}.get(kind)
        host = socket.inet_ntop(family, name) if family else name.decode()
        right = may(mistake, host, port, "address" if family else "name")
        yes, no = b"\x05\0\0\x01" + bytes(6), b"\x05\x02\0\x01" + bytes(6)
    else:
        text = first + client.recv(4096)
        host, port, right = http(mistake, text)
        yes, no = b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 403 Forbidden\r\n\r\n"
    if not right:
        client.sendall(no)
        return
    with socket.create_connection((host, port), 2) as target:
        client.sendall(yes)
        target.sendall(client.recv(64))


def accept(mistake: str, listener: socket.socket) -> None:
    while True:
        client, _ = listener.accept()
        client.settimeout(2)
        threading.Thread(target=one, args=(mistake, client), daemon=True).start()


def one(mistake: str, client: socket.socket) -> None:
    with client, contextlib.suppress(OSError, ValueError, IndexError):
        serve(mistake, client)


def main(mistake: str, *program: str) -> int:
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=accept, args=(mistake, listener), daemon=True).start()
    port = listener.getsockname()[1]
    os.environ["HTTP_PROXY"] = f"http://127.0.0.1:{port}"
    os.environ["ALL_PROXY"] = f"socks5h://127.0.0.1:{port}"
    here = Path.cwd()
    return subprocess.run([*WORDS, "--bind", here, here, *program], check=False).returncode


sys.exit(main(*sys.argv[1:]))
