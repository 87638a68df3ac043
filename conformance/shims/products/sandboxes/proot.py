"""The adapter for proot, which does not claim to be a sandbox. As a negative control it must
fail."""

from products.adapter import EVERYTHING, Adapter, Asked


class Product(Adapter):
    about = "another root by ptrace, no confinement; a control"
    homepage = "https://proot-me.github.io"
    documents = "proot(1)"
    mechanism = "ptrace"
    control = True
    program = "proot"
    installs = (("apt-get", "install", "-y", "proot"),)
    claims = EVERYTHING

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        return [self.found(), "-r", "/", "-w", asked.cwd, *argv]
