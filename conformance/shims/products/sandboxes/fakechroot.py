"""The adapter for fakechroot, which does not claim to be a sandbox. As a negative control it must
fail."""

from products.adapter import EVERYTHING, Adapter, Asked


class Product(Adapter):
    about = "chroot(2) by a preloaded library, no confinement; a control"
    homepage = "https://github.com/dex4er/fakechroot"
    documents = "fakechroot(1)"
    mechanism = "preload"
    control = True
    program = "fakechroot"
    installs = (("apt-get", "install", "-y", "fakechroot"),)
    claims = EVERYTHING

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        return [self.found(), "--", *argv]
