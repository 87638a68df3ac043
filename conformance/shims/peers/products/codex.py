"""The Linux sandbox of @openai/codex, by `codex sandbox`; no account and no network needed."""

from peers.adapter import FULLY, Adapter, Asked


class Product(Adapter):
    about = "codex sandbox: what its agent's commands run in"
    homepage = "https://github.com/openai/codex"
    documents = "codex sandbox --help, and docs/config.md"
    mechanism = "namespaces+seccomp"
    program = "codex"
    installs = (("npm", "install", "--prefix", "{home}", "@openai/codex"),)
    claims = {
        "fs-write": "its profile :workspace grants /tmp as well",
        "fs-metadata": FULLY,
        "network": FULLY,
        "process": "its help names files and the network, and no processes",
        "ipc": "its help names files and the network, and no shared memory",
    }

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        profile = ":workspace" if asked.writable else ":read-only"
        words = [
            "env",
            f"CODEX_HOME={self.state()}",
            self.found(),
            "sandbox",
            "--permission-profile",
            profile,
            "--cd",
            asked.root,
        ]
        return [*words, "--", *argv]
