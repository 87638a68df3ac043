"""A DNS query through the system's resolver.

The start gets a network namespace that has only a loopback interface, a DNS server of the kit on
this interface, and an /etc/resolv.conf that names the server. Only root can make this without
changing the user too.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from boxspec.subject.observe.probes import ProbeResult, table
from boxspec.verify.row import Attempt, Target
from boxspec.verify.scene import Scene

NAMESPACES = ["unshare", "--net", "--mount"]
PROBE = "n_resolve"
# The server is no child of the command, because a command may wait for all of its children.
ENTER = """\
mount --bind "$1" /etc/resolv.conf || exit 125
server=$("$2" -I -S -c "$3" "$4" "$5" <&- >&- 2>&- & echo $!)
until [ -e "$5" ]; do kill -0 "$server" || exit 125; done
shift 5
exec "$@"
"""
# The DNS server answers each query with 127.0.0.1 and records the names. Before that it enables the
# loopback interface.
SERVER = """\
import fcntl, os, socket, struct, sys
made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(made, 0x8914, struct.pack("16sH14x", b"lo", 0x1 | 0x40))
made.bind(("127.0.0.1", 53))
log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
open(sys.argv[2], "w").close()
while True:
    asked, sender = made.recvfrom(4096)
    end = asked.index(b"\\0", 12) + 5
    os.write(log, asked[12:end] + b"\\n")
    head = asked[:2] + b"\\x81\\x80" + asked[4:6] + b"\\0\\1\\0\\0\\0\\0"
    address = b"\\xc0\\x0c\\0\\1\\0\\1\\0\\0\\0\\0\\0\\4\\x7f\\0\\0\\1"
    made.sendto(head + asked[12:end] + address, sender)
"""


@dataclass(frozen=True)
class Resolver(Target):
    """A query for a random name through the resolver inside the sandbox.

    The DNS server of the kit records the query.
    """

    def attempts(self, scene: Scene) -> list[Attempt]:
        label = secrets.token_hex(8)
        log, ready, settings = (scene.fresh(scene.private) for _ in range(3))
        settings.write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
        settings.chmod(0o644)
        words = [str(settings), sys.executable, SERVER, str(log), str(ready)]
        scene.prefix = [*NAMESPACES, "sh", "-c", ENTER, "sh", *words]

        def effects(result: ProbeResult) -> list[str]:
            asked = log.read_bytes() if log.exists() else b""
            return ["a name was asked from a DNS server (UDP)"] if label.encode() in asked else []

        params: dict[str, object] = {"name": f"{label}.example.org"}
        return [Attempt(PROBE, table()[PROBE].tries, params, effects)]


def can_be_asked() -> bool:
    """True if this user can make the network namespace, and /etc/resolv.conf is a file to mount
    over."""
    if os.geteuid() != 0 or not Path("/etc/resolv.conf").is_file() or not shutil.which("unshare"):
        return False
    words = [*NAMESPACES, "mount", "--bind", "/dev/null", "/etc/resolv.conf"]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0
