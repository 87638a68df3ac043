"""The adapter for @anthropic-ai/sandbox-runtime. It uses the command srt."""

import json
import os

from products.adapter import FULLY, Adapter, Asked, which


class Product(Adapter):
    about = "srt: bubblewrap, a filter for sockets, and proxies instead of a network"
    homepage = "https://github.com/anthropic-experimental/sandbox-runtime"
    documents = "the README of the npm package"
    mechanism = "namespaces+seccomp"
    program = "srt"
    # srt always restricts the network to a list of domains. So the network cannot be open.
    lacks = ("open network",)
    installs = (
        ("apt-get", "install", "-y", "bubblewrap", "socat", "ripgrep"),
        ("npm", "install", "--prefix", "{home}", "@anthropic-ai/sandbox-runtime{@version}"),
    )
    claims = {
        "fs-write": FULLY,
        "fs-metadata": FULLY,
        "network": FULLY,
        "process": "its README names files and the network, and no processes",
        "ipc": "its README: Unix sockets are restricted; it names no shared memory and no keys",
    }

    denies = frozenset({"modify", "read"})
    # The README, Path Syntax (Linux): patterns are skipped, or expanded for reading.
    special = "*?["

    def version(self) -> str:
        """Return the version of the package. Older versions of srt always print 1.0.0."""
        package = ("node_modules", "@anthropic-ai", "sandbox-runtime", "package.json")
        if not os.path.exists(os.path.join(self.home, *package)):
            return super().version()
        with open(self.below(*package), encoding="utf-8") as file:
            return str(json.load(file)["version"])

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        for needed in ("bwrap", "socat", "rg"):
            which(needed)
        settings = {
            "filesystem": {
                "denyRead": asked.hidden,
                "allowWrite": asked.writable,
                "denyWrite": asked.read_only,
            },
            "network": {"allowedDomains": [], "deniedDomains": []},
        }
        file = self.keep("settings.json", json.dumps(settings))
        return [self.found(), "--settings", file, "--", *argv]
