"""The adapter for sandlock. It uses the Python library."""

import json

from products.adapter import FULLY, Adapter, Asked

# This code runs in the product's own Python, outside the sandbox. With -I it imports no module of
# the workspace.
CODE = """
import json, sys
from sandlock import Sandbox
result = Sandbox(**json.loads(sys.argv[1])).run(sys.argv[2:])
sys.stdout.buffer.write(result.stdout or b"")
sys.stderr.buffer.write(result.stderr or b"")
if result.error:
    print(result.error, file=sys.stderr)
# After SIGKILL the library reports no number: "Killed with no recoverable signal number".
number = result.signal if result.signal > 0 else 9
sys.exit(result.exit_code if result.exit_code >= 0 else 128 + number)
"""


class Product(Adapter):
    about = "Landlock, a filter and a supervisor, by its Python library"
    homepage = "https://github.com/multikernel/sandlock"
    documents = "the README of the Python package"
    mechanism = "landlock+seccomp"
    program = "python3"
    version_words = ("-I", "-c", "import importlib.metadata as m; print(m.version('sandlock'))")
    installs = (
        ("apt-get", "install", "-y", "python3-venv"),
        # The system's Python is used, because other users cannot reach one in root's home
        # directory.
        ("/usr/bin/python3", "-m", "venv", "{home}"),
        ("{home}/bin/pip", "install", "--quiet", "sandlock{==version}"),
    )
    claims = {
        "fs-write": FULLY,
        "fs-metadata": "its README grants reading and writing, and names no metadata",
        "network": FULLY,
        "process": "its README: signals are scoped; it names no other access to processes",
        "ipc": "its README: abstract sockets are scoped; it names no sockets with a path",
        "kernel": "its README: a list of its own is refused",
    }

    denies = frozenset({"read"})
    egress = FULLY

    def found(self) -> str:
        return self.below("bin", "python3")

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        grants = {"fs_readable": ["/"], "fs_writable": [*asked.writable, "/dev/null"]}
        grants["fs_denied"] = asked.hidden
        if asked.egress is not None:
            grants["net_allow"] = [f"tcp://{each}" for each in asked.egress]
        elif asked.network:
            anything = ["tcp://*:*", "udp://*:*"]
            grants |= {"net_allow": anything, "net_allow_bind": ["*"]}
        return [self.found(), "-I", "-c", CODE, json.dumps({**grants, "cwd": asked.cwd}), *argv]
