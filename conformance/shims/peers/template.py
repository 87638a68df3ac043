"""NAME as a backend: how it is found, what it claims, and how it is called."""

from peers.adapter import Adapter, Asked


class Product(Adapter):
    about = "what it is, in one line"
    homepage = "https://example.org/NAME"
    # Where the command line below comes from: a page of its manual, or --help.
    documents = "NAME(1)"
    # What it is made of, with + between the parts: namespaces, landlock, seccomp.
    mechanism = "unknown"
    # Found by PATH, or below build/backends/NAME; `version` runs it with --version.
    program = "env"
    # Commands of `./ci/boxspec backends install`; {home} is build/backends/NAME.
    installs = (("apt-get", "install", "-y", "coreutils"),)
    # Each aspect that its documents promise is "fully"; of another one say what they say it lacks.
    # What is not named is not claimed: fs-write, fs-metadata, process, network, ipc, kernel.
    claims = {
        "fs-write": "this adapter is not filled in yet",
        # "network": "fully",
    }
    # What a profile grants and the product has no means for: "open network", "cache".
    lacks: tuple[str, ...] = ()
    # What a program gets besides, such as a TMPDIR that it may write to.
    environment: dict[str, str] = {}

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        """The command that runs argv inside.

        asked.writable are the directories that may be changed, with all that lies below; the rest
        of the system is for reading. asked.network is whether the network is open, asked.cwd where
        the program starts, asked.root the workspace. What the product itself remembers belongs into
        self.state(): a file of its own below HOME would count as a change outside.
        """
        return [self.found(), *argv]
