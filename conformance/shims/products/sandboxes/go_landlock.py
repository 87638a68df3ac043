"""The adapter for go-landlock. It uses the example program landlock-restrict."""

import re

from products.adapter import FULLY, Adapter, Asked


class Product(Adapter):
    about = "Landlock by the example command of its Go library"
    homepage = "https://github.com/landlock-lsm/go-landlock"
    documents = "landlock-restrict without arguments, and its source"
    mechanism = "landlock"
    program = "landlock-restrict"
    installs = (
        (
            *("env", "GOBIN={home}/bin", "go", "install"),
            "github.com/landlock-lsm/go-landlock/cmd/landlock-restrict@{version}",
        ),
    )
    claims = {
        "fs-write": FULLY,
        "fs-metadata": "Landlock has no right for metadata",
        "network": "the command restricts paths alone",
        "process": "the command restricts paths alone",
        "ipc": "the command restricts paths alone",
    }

    def version(self) -> str:
        """Return the version in the build information. The program does not print a version."""
        with open(self.found(), "rb") as file:
            found = re.search(rb"go-landlock\tv([\w.-]+)", file.read())
        return found[1].decode() if found else "unknown"

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        words = [self.found(), "-ro", "/", "-rwfiles", "/dev/null"]
        if asked.writable:
            words += ["-rw", "+refer", *asked.writable]
        return [*words, "--", *argv]
