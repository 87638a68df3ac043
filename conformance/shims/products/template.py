"""NAME as a backend: how to find it, its claims, and its command line."""

from products.adapter import Adapter, Asked


class Product(Adapter):
    about = "the product, in one line"
    homepage = "https://example.org/NAME"
    # The source of the command line below: a page of its manual, or --help.
    documents = "NAME(1)"
    # Its parts, joined by +: namespaces, landlock, seccomp.
    mechanism = "unknown"
    # Found on PATH, or below build/products/NAME; `version` runs it with --version.
    program = "env"
    # Commands of `COMMAND products install`; {home} is build/products/NAME, and {@version} or
    # {==version} after a package stands for the version in `products install NAME@VERSION`.
    installs = (("apt-get", "install", "-y", "coreutils"),)
    # "fully" for each aspect that its documents promise, else the reason that they give. An aspect
    # without an entry is not claimed: fs-write, fs-metadata, process, network, ipc, kernel.
    claims = {
        "fs-write": "this adapter is not filled in yet",
        # "network": "fully",
    }
    # Permissions for which the product has no option: "open network", "cache", or the name of a
    # profile, for example "read-only".
    lacks: tuple[str, ...] = ()
    # Variables that each program gets. TMPDIR is the workspace unless it is set here.
    environment: dict[str, str] = {}
    # The words that set one variable of the program, for example ("--setenv", "{name}", "{value}"),
    # and the words that remove one of the launcher. Without them, env(1) sets it inside.
    variable: tuple[str, ...] = ()
    unset: tuple[str, ...] = ()
    # "modify" and "read", if an option closes single paths of the workspace for it. `command` then
    # passes on asked.read_only and asked.hidden.
    denies: frozenset[str] = frozenset()

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        """Return the command that runs argv inside.

        asked.writable: directories that may be changed, with everything below them; the rest of the
        system is read-only. asked.network: whether the network is open. asked.cwd: the working
        directory. asked.root: the workspace. Files of the product itself belong into self.state():
        below HOME they would count as a change outside.
        """
        return [self.found(), *argv]
