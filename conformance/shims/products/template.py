"""NAME as a backend: how to find the product, its claims, and its command line."""

from products.adapter import Adapter, Asked


class Product(Adapter):
    about = "the product, in one line"
    homepage = "https://example.org/NAME"
    # The document from which the command line below is taken: a page of the manual, or --help.
    documents = "NAME(1)"
    # The parts of its mechanism, joined by +: namespaces, landlock, seccomp.
    mechanism = "unknown"
    # The name of the executable. It is found on PATH, or below build/products/NAME. `version` runs
    # it with --version.
    program = "env"
    # The commands of `COMMAND products install`. {home} is build/products/NAME. {@version} or
    # {==version} after a package stands for the version in `products install NAME@VERSION`.
    installs = (("apt-get", "install", "-y", "coreutils"),)
    # For each aspect "fully" if its documents promise this, else the reason that they give. An
    # aspect without an entry is not claimed. The aspects: fs-write, fs-metadata, process, network,
    # ipc, kernel.
    claims = {
        "fs-write": "this adapter is not filled in yet",
        # "network": "fully",
    }
    # Permissions for which the product has no option: "open network", "cache", or the name of a
    # profile, for example "read-only".
    lacks: tuple[str, ...] = ()
    # Variables that each program gets. Unless TMPDIR is set here, it is the workspace.
    environment: dict[str, str] = {}
    # The words that set one variable of the program, for example ("--setenv", "{name}", "{value}"),
    # and the words that remove a variable of the launcher. If there are no such words, env(1) sets
    # the variables inside.
    variable: tuple[str, ...] = ()
    unset: tuple[str, ...] = ()
    # "modify" and "read", if the product has an option that closes single paths of the workspace
    # for this. `command` then passes on asked.read_only and asked.hidden.
    denies: frozenset[str] = frozenset()

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        """Return the command that runs argv inside the sandbox.

        asked.writable: directories that may be changed, including all paths below them. The rest of
        the system is read-only.
        asked.network: True if the network is open.
        asked.cwd: the working directory.
        asked.root: the workspace.

        Write files of the product itself below self.state(). Below HOME they would count as a
        change outside.
        """
        return [self.found(), *argv]
