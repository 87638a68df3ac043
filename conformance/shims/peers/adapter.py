"""What an adapter says: how a product is found, what it claims, and how it is called.

An adapter is a file with a class `Product(Adapter)`. The rest is done in common: the protocol, the
environment, the positive control of a probe, and starting the command as a shell would start it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil

import peers.starting as starting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The claim that an aspect holds; any other word is the reason why it does not.
FULLY = "fully"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
HOMES = os.path.join(ROOT, "build", "backends")
EVERYTHING = dict.fromkeys(
    ("fs-write", "fs-metadata", "process", "network", "ipc", "kernel"), FULLY
)


class Missing(Exception):
    """The product is not there; the words say what was looked for."""


class Asked:
    """What a session grants. root, cwd: absolute, canonical; writable: directories, with all that
    lies below; network: whether it is open."""

    def __init__(self, root: str, cwd: str, profile: str) -> None:
        self.root = root
        self.cwd = cwd
        self.profile = profile
        self.writable = [] if profile == "read-only" else [root]
        self.network = profile not in ("no-network", "ci-only")
        cache = os.path.join(os.path.realpath(os.path.expanduser("~")), ".cache")
        # A root that holds its name has it already, and a program may have made it a link.
        if profile == "full-dev" and os.path.isdir(cache) and not cache.startswith(f"{root}/"):
            self.writable.append(cache)


class Adapter:
    """about: one line. homepage: its makers'. documents: where the command line comes from.
    mechanism: what it is made of, `+` between the parts. control: whether it is no sandbox and must
    fail. program: the executable. installs: commands, `{home}` stands for a folder of its own.
    claims: an aspect to FULLY, or to what its documents say that it lacks; what is not there is
    not claimed. environment: what is added to a program's own. variable: where the product gives
    programs an environment of its own, the word before `--` that adds to it, `{}` for NAME=VALUE.
    lacks: what its documents have no word for, of `open network` and `cache`: it is not asked.
    """

    about = ""
    homepage = ""
    documents = ""
    mechanism = "unknown"
    control = False
    program = ""
    version_words: Sequence[str] = ("--version",)
    installs: Sequence[Sequence[str]] = ()
    claims: Mapping[str, str] = {}
    environment: Mapping[str, str] = {}
    variable = ""
    lacks: Sequence[str] = ()

    def __init__(self, name: str) -> None:
        self.name = name
        self.home = os.path.join(HOMES, name)

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        """The command that runs argv inside."""
        raise NotImplementedError

    def passing(self, words: list[bytes], env: Mapping[bytes, bytes]) -> list[bytes]:
        """What `command` gave, with the environment of the program where the product needs it."""
        if not self.variable:
            return words
        end = words.index(b"--")
        form = os.fsencode(self.variable)
        given = [form.replace(b"{}", name + b"=" + value) for name, value in env.items()]
        return [*words[:end], *given, *words[end:]]

    def claimed(self, asked: Asked) -> Mapping[str, str]:
        """The claims, where they depend on what is asked."""
        return self.claims

    def found(self) -> str:
        """The path of the program: the one that was installed on request, else that of PATH."""
        own = [os.path.join(self.home, *below) for below in (("bin",), ("node_modules", ".bin"))]
        path = os.pathsep.join([*own, os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
        program = shutil.which(self.program, path=path)
        if program is None:
            raise Missing(f"there is no program {self.program}")
        return program

    def below(self, *path: str) -> str:
        """What was installed in the folder of its own."""
        place = os.path.join(self.home, *path)
        if not os.path.exists(place):
            raise Missing(f"there is no {place}")
        return place

    def state(self) -> str:
        """A folder for what the product itself remembers. In the HOME that it is given this would
        be a change outside, which is laid to the charge of the program inside. It is not below
        /tmp, as a checkout may be: many products have a /tmp of their own."""
        import pwd

        user = pwd.getpwuid(os.geteuid()).pw_dir
        folder = os.path.join(user, ".cache", "boxspec", "backends", self.name)
        os.makedirs(folder, exist_ok=True)
        return folder

    def keep(self, name: str, text: str) -> str:
        """The path of a file with this text, which the product reads: one for each text."""
        folder = os.path.join(self.home, "given")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, f"{hashlib.sha256(text.encode()).hexdigest()[:16]}-{name}")
        if not os.path.exists(path):
            with open(f"{path}.{os.getpid()}", "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(file.name, path)
        return path

    def version(self) -> str:
        """The first number with a dot that the product says of itself."""
        said = starting.run([self.found(), *self.version_words], own_group=True)
        text = (said.stdout + said.stderr).decode("utf-8", "replace")
        number = re.search(r"\d+(\.\d+)+\S*", text)
        return number.group().rstrip(",;)") if number else "unknown"

    def install_commands(self) -> list[list[str]]:
        return [[word.replace("{home}", self.home) for word in words] for words in self.installs]


def which(program: str) -> str:
    """The path of a program of the host that an adapter needs besides."""
    found = shutil.which(program)
    if found is None:
        raise Missing(f"there is no program {program}")
    return found
