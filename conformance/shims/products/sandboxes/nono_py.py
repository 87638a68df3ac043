"""The adapter for nono. It uses the Python library."""

import json

from products.adapter import FULLY, Adapter, Asked

# This code runs in the product's own Python, outside the sandbox. With -I it imports no module of
# the workspace.
CODE = """
import json, os, sys
from nono_py import AccessMode, CapabilitySet, sandboxed_exec
asked = json.loads(sys.argv[1])
grants = CapabilitySet()
grants.allow_path("/", AccessMode.READ)
for folder in asked["writable"]:
    grants.allow_path(folder, AccessMode.READ_WRITE)
grants.allow_file("/dev/null", AccessMode.READ_WRITE)
if not asked["network"]:
    grants.block_network()
result = sandboxed_exec(
    grants, sys.argv[2:], cwd=asked["cwd"], env=list(os.environ.items()), enforcement_mode="seccomp"
)
sys.stdout.buffer.write(result.stdout)
sys.stderr.buffer.write(result.stderr)
# The library reports -N after signal N.
sys.exit(result.exit_code if result.exit_code >= 0 else 128 - result.exit_code)
"""


class Product(Adapter):
    about = "capabilities over Landlock, by its Python library"
    homepage = "https://github.com/nolabs-ai/nono-py"
    documents = "the README of the Python package"
    mechanism = "landlock+seccomp"
    program = "python3"
    version_words = (
        "-I",
        "-c",
        "from importlib.metadata import version; print(version('nono-py'))",
    )
    installs = (
        ("apt-get", "install", "-y", "python3-venv"),
        # Other users could not reach a Python in root's home directory.
        ("/usr/bin/python3", "-m", "venv", "{home}"),
        ("{home}/bin/pip", "install", "--quiet", "nono-py{==version}"),
    )
    claims = {
        "fs-write": FULLY,
        "fs-metadata": "its README grants reading and writing, and names no metadata",
        "network": FULLY,
        "process": "its README names no access to other processes",
        "ipc": "its README: sockets with a path are granted apart; it names no other ones",
    }

    def found(self) -> str:
        return self.below("bin", "python3")

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        words = {"writable": asked.writable, "network": asked.network, "cwd": asked.cwd}
        return [self.found(), "-I", "-c", CODE, json.dumps(words), *argv]
