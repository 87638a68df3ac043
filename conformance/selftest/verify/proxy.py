"""A sandbox with a proxy for HTTP and SOCKS, for the self-tests of `verify`.

The first word names a mistake of the proxy: `none` for a correct proxy, which refuses each address
of this machine, or `all` for a proxy that refuses no address. The second word is a key of PLACES:
where the proxy listens, and how the environment names it. The other words are a program, which
bubblewrap starts.
"""

from __future__ import annotations

import contextlib
import ctypes
import ipaddress
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue

# Addresses for documentation (RFC 5737). They are used only in networks without a way out.
OUTSIDE, INSIDE = "198.51.100.1", "198.51.100.2"
CLONE_NEWNET = 0x40000000

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
    if mistake == "all":
        return True
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


Listening = tuple[socket.socket, dict[str, str], list[str]]


def listen(address: str = "127.0.0.1") -> tuple[socket.socket, str]:
    made = socket.create_server((address, 0))
    return made, str(made.getsockname()[1])


def usual() -> Listening:
    made, port = listen()
    names = {"HTTP_PROXY": f"http://127.0.0.1:{port}", "ALL_PROXY": f"socks5h://127.0.0.1:{port}"}
    return made, names, []


def without_scheme() -> Listening:
    made, port = listen()
    return made, {"RSYNC_PROXY": f"127.0.0.1:{port}"}, []


def second_variable() -> Listening:
    made, port = listen()
    closed, number = listen()
    closed.close()
    names = {"http_proxy": f"http://127.0.0.1:{number}"}
    return made, {**names, "npm_config_https_proxy": f"http://127.0.0.1:{port}"}, []


def with_password() -> Listening:
    made, port = listen()
    return made, {"HTTP_PROXY": f"HTTP://name:pass%40word@127.1:{port}/"}, []


def unix_socket() -> Listening:
    made = socket.socket(socket.AF_UNIX)
    made.bind("proxy.socket")
    made.listen()
    return made, {"HTTP_PROXY": f"unix://{Path.cwd()}/proxy.socket"}, []


def name_of_hosts() -> Listening:
    made, port = listen()
    Path("hosts").write_text("127.0.0.1 localhost proxy.internal\n")
    words = ["--ro-bind", str(Path.cwd() / "hosts"), "/etc/hosts"]
    return made, {"HTTP_PROXY": f"http://proxy.internal:{port}"}, words


def ip(*commands: str) -> None:
    for each in commands:
        subprocess.run(["ip", *each.split()], check=True)


def new_network() -> None:
    """Move this thread into a new network."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) < 0:
        raise OSError(ctypes.get_errno(), "unshare")


def own_address() -> Listening:
    new_network()
    ip("link set lo up", f"addr add {INSIDE}/32 dev lo")
    made, port = listen(INSIDE)
    return made, {"HTTP_PROXY": f"http://{INSIDE}:{port}"}, []


def gateway() -> Listening:
    """Listen at the other end of a pair of virtual interfaces, in another network."""
    listening: SimpleQueue[tuple[int, socket.socket]] = SimpleQueue()
    linked, up = threading.Event(), threading.Event()

    def outside() -> None:
        new_network()
        listening.put((threading.get_native_id(), socket.create_server(("0.0.0.0", 0))))
        linked.wait()
        ip(f"addr add {OUTSIDE}/24 dev outside", "link set outside up")
        up.set()
        threading.Event().wait()

    threading.Thread(target=outside, daemon=True).start()
    thread, made = listening.get()
    new_network()
    ip(f"link add inside type veth peer name outside netns {thread}")
    linked.set()
    up.wait()
    ip("link set lo up", f"addr add {INSIDE}/24 dev inside", "link set inside up")
    ip(f"route add default via {OUTSIDE}")
    return made, {"HTTP_PROXY": f"http://{OUTSIDE}:{made.getsockname()[1]}"}, []


def named(value: str) -> Callable[[], Listening]:
    """Name a proxy that does not exist."""
    return lambda: (listen()[0], {"HTTPS_PROXY": value}, [])


PLACES: dict[str, Callable[[], Listening]] = {
    "usual": usual,
    "without-scheme": without_scheme,
    "second-variable": second_variable,
    "with-password": with_password,
    "unix-socket": unix_socket,
    "name-of-hosts": name_of_hosts,
    "own-address": own_address,
    "gateway": gateway,
    "elsewhere": named(f"http://{OUTSIDE}:3128"),
    "unknown-name": named("http://proxy.invalid:3128"),
    "tls": named("https://127.0.0.1:3129"),
}


def main(mistake: str, place: str, *program: str) -> int:
    # The thread may change its network. The proxy stays in the network of the host.
    listening: SimpleQueue[socket.socket] = SimpleQueue()
    statuses = []

    def start() -> None:
        listener, names, words = PLACES[place]()
        listening.put(listener)
        env, here = {**os.environ, **names}, str(Path.cwd())
        argv = [*WORDS, "--bind", here, here, *words, *program]
        statuses.append(subprocess.run(argv, env=env, check=False).returncode)

    starter = threading.Thread(target=start)
    starter.start()
    proxy = threading.Thread(target=accept, args=(mistake, listening.get()), daemon=True)
    proxy.start()
    starter.join()
    return statuses[0]


sys.exit(main(*sys.argv[1:]))
