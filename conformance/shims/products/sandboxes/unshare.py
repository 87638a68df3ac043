"""The adapter for unshare. It only makes namespaces, so files of the host stay writable."""

from products.adapter import FULLY, Adapter, Asked


class Product(Adapter):
    about = "namespaces of util-linux; it says nothing of files"
    homepage = "https://www.kernel.org/pub/linux/utils/util-linux/"
    documents = "unshare(1)"
    mechanism = "namespaces"
    program = "unshare"
    installs = (("apt-get", "install", "-y", "util-linux"),)
    claims = {
        "network": FULLY,
        "process": FULLY,
        "ipc": "unshare(1): --ipc is for System V and POSIX queues, not for sockets",
    }

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        words = [self.found(), "--user", "--map-current-user", "--mount", "--ipc"]
        words += ["--pid", "--fork", "--kill-child", "--mount-proc"]
        if not asked.network:
            words.append("--net")
        return [*words, "--", *argv]
