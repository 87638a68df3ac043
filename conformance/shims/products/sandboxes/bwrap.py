"""The adapter for bubblewrap as in its README: the workspace is mounted over a read-only root."""

from __future__ import annotations

import os

from products.adapter import FULLY, Adapter, Asked


class Product(Adapter):
    about = "bubblewrap as its README calls it: no launcher, no filter, and no --new-session"
    homepage = "https://github.com/containers/bubblewrap"
    documents = "README.md and bwrap(1)"
    mechanism = "namespaces"
    program = "bwrap"
    installs = (("apt-get", "install", "-y", "bubblewrap"),)
    claims = {
        "fs-write": FULLY,
        "fs-metadata": FULLY,
        "network": FULLY,
        "process": FULLY,
        "ipc": "its README: sockets that are visible inside can be connected to",
    }
    environment = {"TMPDIR": "/tmp"}
    variable = ("--setenv", "{name}", "{value}")
    unset = ("--unsetenv", "{name}")
    reads_words = "--args"
    denies = frozenset({"modify", "read"})

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        words = [self.found(), "--unshare-all"]
        if asked.network:
            words.append("--share-net")
        words += ["--die-with-parent", "--ro-bind", "/", "/"]
        words += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
        # If the workspace is not writable, it needs no mount: it is a part of the read-only root.
        for folder in asked.writable:
            words += ["--bind", folder, folder]
        # A program could move a folder that is not a mount.
        for folder in folders_above(asked.read_only, asked.root):
            words += ["--bind", folder, folder]
        for path in asked.read_only:
            words += ["--ro-bind", path, path]
        for path in asked.hidden:
            hidden = ["--tmpfs", path] if os.path.isdir(path) else ["--ro-bind", "/dev/null", path]
            words += hidden
        return [*words, "--chdir", asked.cwd, "--", *argv]


def folders_above(paths: list[str], root: str) -> list[str]:
    """Return the folders between the workspace and these paths, upper ones first."""
    found = set()
    for path in paths:
        folder = os.path.dirname(path)
        while folder.startswith(f"{root}/"):
            found.add(folder)
            folder = os.path.dirname(folder)
    return sorted(found)
