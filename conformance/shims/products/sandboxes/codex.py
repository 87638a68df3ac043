"""The adapter for the Linux sandbox of @openai/codex.

The command `codex sandbox` needs no account and no network.
"""

import json

from products.adapter import FULLY, Adapter, Asked

PROFILE = "boxspec"


class Product(Adapter):
    about = "codex sandbox: what its agent's commands run in"
    homepage = "https://github.com/openai/codex"
    documents = "codex sandbox --help, and developers.openai.com/codex/permissions"
    mechanism = "namespaces+seccomp"
    program = "codex"
    native = "node_modules/@openai/codex-linux-*/vendor/*/bin/codex"
    installs = (("npm", "install", "--prefix", "{home}", "@openai/codex{@version}"),)
    claims = {
        "fs-write": FULLY,
        "fs-metadata": FULLY,
        "network": FULLY,
        "process": "its help names files and the network, and no processes",
        "ipc": "its help names files and the network, and no shared memory",
    }
    denies = frozenset({"modify", "read"})
    special = "*?["

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        # The built-in profiles close the network and permit writing to /tmp, so they are not used.
        files = '":root" = "read"'
        if asked.writable:
            files += ', ":workspace_roots" = {"." = "write"}'
        closed = {**dict.fromkeys(asked.read_only, "read"), **dict.fromkeys(asked.hidden, "deny")}
        files += "".join(
            f", {json.dumps(path)} = {json.dumps(how)}" for path, how in closed.items()
        )
        # The folders are given as roots, because in a rule a path is a pattern in which `*` is a
        # wildcard.
        roots = ", ".join(f"{json.dumps(folder)} = true" for folder in asked.writable)
        network = "true" if asked.network else "false"
        parts = (
            f"workspace_roots = {{{roots}}}",
            f"filesystem = {{{files}}}",
            f"network = {{enabled = {network}}}",
        )
        words = [
            *("env", f"CODEX_HOME={self.state()}", self.found()),
            "sandbox",
            "--config",
            f"permissions.{PROFILE} = {{{', '.join(parts)}}}",
            "--permission-profile",
            PROFILE,
            "--cd",
            asked.cwd,
        ]
        return [*words, "--", *argv]
