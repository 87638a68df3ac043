"""The adapter for birdcage. It uses `sandbox`, the example program of the crate."""

from __future__ import annotations

import os

from products.adapter import FULLY, Adapter, Asked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from products.adapter import Environment, Launch

AS_ROOT = "its README: dangerous when execution is performed as root"


class Product(Adapter):
    about = "an embeddable sandbox, by the example command of its crate"
    homepage = "https://github.com/phylum-dev/birdcage"
    documents = "examples/sandbox.rs and the README of the crate"
    mechanism = "namespaces+seccomp"
    program = "sandbox"
    installs = (
        ("cargo", "install", "--root", "{home}", "--example", "sandbox", "birdcage{@version}"),
    )
    claims = {
        "fs-write": FULLY,
        "fs-metadata": FULLY,
        "network": FULLY,
        "process": "its README names files and the network, and no processes",
        "ipc": "its README names files and the network, and no shared memory",
    }

    def claimed(self, asked: Asked) -> Mapping[str, str]:
        if os.geteuid() != 0:
            return self.claims
        return {**self.claims, "fs-write": AS_ROOT, "fs-metadata": AS_ROOT}

    def version(self) -> str:
        """Return the version that cargo installed. The example program does not print a version."""
        with open(self.below(".crates.toml"), encoding="utf-8") as file:
            return file.read().partition('"birdcage ')[2].partition(" ")[0]

    def launch(self, words: list[bytes], program: list[bytes], env: Environment) -> Launch:
        """Return the command and the environment of the launcher.

        The sandbox lets the variables of the launcher in.
        """
        words, own = super().launch(words, program, env)
        allowed = [word for name in own for word in (b"--allow-env", name)]
        return [words[0], *allowed, *words[1:]], own

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        words = [self.found(), "-e", "/", "-w", "/dev/null"]
        for folder in asked.writable:
            words += ["-w", folder, "-e", folder]
        if asked.network:
            words.append("--allow-networking")
        return [*words, "--", *argv]
