"""The adapter for firejail without a profile.

It uses the options of firejail(1) for a read-only system.
"""

from products.adapter import FULLY, Adapter, Asked

# /run as a whole cannot be read-only: firejail has its own files there, and would not start.
READ_ONLY = ("/", "/home", "/var", "/run/lock", "/run/user")


class Product(Adapter):
    about = "a setuid program: namespaces, a filter, capabilities dropped"
    homepage = "https://firejail.wordpress.com"
    documents = "firejail(1)"
    mechanism = "namespaces+seccomp"
    program = "firejail"
    installs = (("apt-get", "install", "-y", "firejail"),)
    claims = {
        "fs-write": FULLY,
        "fs-metadata": FULLY,
        "network": FULLY,
        "process": FULLY,
        "ipc": "firejail(1): --ipc-namespace is for System V and POSIX queues, not for sockets",
        "kernel": "firejail(1): --seccomp refuses a list of its own",
    }
    environment = {"TMPDIR": "/tmp"}
    variable = ("--env={name}={value}",)
    unset = ("--rmenv={name}",)

    denies = frozenset({"modify", "read"})
    # The first three make a pattern: firejail(1), FILE GLOBBING. It refuses paths with the others.
    special = "*?[" + '\\]&!"<>%^{};,'

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        words = [self.found(), "--quiet", "--noprofile", "--private-tmp", "--private-dev"]
        # Without these options firejail runs until every program inside has ended, and exits with
        # the status of the last one.
        words += ["--deterministic-shutdown", "--deterministic-exit-code"]
        words += ["--caps.drop=all", "--nonewprivs", "--seccomp", "--ipc-namespace"]
        # firejail mounts some directories itself. --read-only=/ does not apply to such a mount.
        words += [f"--read-only={folder}" for folder in READ_ONLY]
        words += [f"--read-write={folder}" for folder in asked.writable]
        words += [f"--read-only={path}" for path in asked.read_only]
        words += [f"--blacklist={path}" for path in asked.hidden]
        if not asked.network:
            words.append("--net=none")
        return [*words, "--", *argv]
