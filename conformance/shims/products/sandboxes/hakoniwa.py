"""The adapter for hakoniwa. It uses the command of the same name.

The command makes an empty mount namespace, in which the needed directories are mounted.
"""

import os

from products.adapter import FULLY, Adapter, Asked


class Product(Adapter):
    about = "namespaces and podman's filter, by the command of its crate"
    homepage = "https://github.com/souk4711/hakoniwa"
    documents = "the README of hakoniwa-cli, and hakoniwa run --help"
    mechanism = "namespaces+seccomp"
    program = "hakoniwa"
    installs = (("cargo", "install", "--locked", "--root", "{home}", "hakoniwa-cli{@version}"),)
    claims = {
        "fs-write": FULLY,
        "fs-metadata": FULLY,
        "network": FULLY,
        "process": FULLY,
        "ipc": "its README names namespaces, and no keys and no sockets",
        "kernel": "its help: the list of podman is refused",
    }
    environment = {"TMPDIR": "/tmp"}
    variable = ("--setenv", "{name}={value}")

    denies = frozenset({"modify", "read"})
    special = ":"

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        words = [self.found(), "run", "--unshare-ipc", "--devfs", "/dev", "--tmpfs", "/tmp"]
        if not asked.network:
            words.append("--unshare-network")
        for folder in asked.writable:
            words += ["--bindmount-rw", f"{folder}:{folder}"]
        for path in asked.read_only:
            words += ["--bindmount-ro", f"{path}:{path}"]
        for path in asked.hidden:
            empty = (
                ["--tmpfs", path]
                if os.path.isdir(path)
                else ["--bindmount-ro", f"/dev/null:{path}"]
            )
            words += empty
        if asked.root in asked.writable:
            words += ["--workdir", asked.cwd]
        else:
            words += ["--bindmount-ro", f"{asked.root}:{asked.root}"]
        return [*words, "--", *argv]
