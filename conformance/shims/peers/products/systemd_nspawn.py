"""systemd-nspawn on a throw-away view of the host's own system."""

from peers.adapter import FULLY, Adapter, Asked


class Product(Adapter):
    about = "a container of systemd, for root"
    homepage = "https://systemd.io"
    documents = "systemd-nspawn(1)"
    mechanism = "namespaces+seccomp"
    program = "systemd-nspawn"
    installs = (("apt-get", "install", "-y", "systemd-container"),)
    claims = {
        "fs-write": FULLY,
        "fs-metadata": FULLY,
        "network": FULLY,
        "process": FULLY,
        "ipc": "systemd-nspawn(1): sockets below a bound directory can be connected to",
    }
    environment = {"TMPDIR": "/tmp"}

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        words = [self.found(), "--quiet", "--pipe", "--directory=/", "--volatile=yes"]
        words += ["--register=no", "--keep-unit", "--as-pid2", f"--chdir={asked.cwd}"]
        if asked.root not in asked.writable:
            words.append(f"--bind-ro={asked.root}")
        words += [f"--bind={folder}" for folder in asked.writable]
        if not asked.network:
            words.append("--private-network")
        return [*words, "--", *argv]
