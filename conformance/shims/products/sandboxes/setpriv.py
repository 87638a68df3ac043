"""The adapter for setpriv, which does not claim to be a sandbox. As a negative control it must
fail."""

from products.adapter import EVERYTHING, Adapter, Asked


class Product(Adapter):
    about = "drops capabilities, no confinement; a control"
    homepage = "https://www.kernel.org/pub/linux/utils/util-linux/"
    documents = "setpriv(1)"
    mechanism = "capabilities"
    control = True
    program = "setpriv"
    installs = (("apt-get", "install", "-y", "util-linux"),)
    claims = EVERYTHING

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        dropped = ["--bounding-set", "-all", "--inh-caps", "-all"]
        return [self.found(), "--no-new-privs", *dropped, "--", *argv]
