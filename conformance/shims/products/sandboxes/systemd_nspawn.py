"""The adapter for systemd-nspawn. It uses a volatile copy of the host's own system."""

from products.adapter import FULLY, Adapter, Asked

# The manual says this about calls without --private-users. With --private-users, the workspace
# would belong to another user inside.
NOT_FOR_IT = "systemd-nspawn(1), --private-users=no: not to be used to run untrusted code"


class Product(Adapter):
    about = "a container of systemd, for root"
    homepage = "https://systemd.io"
    documents = "systemd-nspawn(1)"
    mechanism = "namespaces+seccomp"
    program = "systemd-nspawn"
    installs = (("apt-get", "install", "-y", "systemd-container"),)
    claims = {
        "fs-write": NOT_FOR_IT,
        "fs-metadata": NOT_FOR_IT,
        "network": FULLY,
        "process": NOT_FOR_IT,
        "ipc": "systemd-nspawn(1): sockets below a bound directory can be connected to",
    }
    environment = {"TMPDIR": "/tmp"}
    variable = ("--setenv={name}={value}",)

    denies = frozenset({"modify", "read"})
    special = ":\\"

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        words = [self.found(), "--quiet", "--pipe", "--directory=/", "--volatile=yes"]
        words += ["--register=no", "--keep-unit", "--as-pid2", f"--chdir={asked.cwd}"]
        if asked.root not in asked.writable:
            words.append(f"--bind-ro={asked.root}")
        words += [f"--bind={folder}" for folder in asked.writable]
        words += [f"--bind-ro={path}" for path in asked.read_only]
        words += [f"--inaccessible={path}" for path in asked.hidden]
        if not asked.network:
            words.append("--private-network")
        return [*words, "--", *argv]
