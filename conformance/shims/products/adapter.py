"""The interface of an adapter: how to find a product, what the product claims, and its command
line.

An adapter is a file with a class `Product(Adapter)`. All adapters share the rest: the protocol, the
environment, the test start of a probe, and the start of the command in the same way as a shell.
"""

from __future__ import annotations

import glob
import os
import re
import shutil

import products.starting as starting
from backend.environment import is_kept
from errors import reason_of
from exec.spawn import caller_environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from products.denied import Denied

    Environment = Mapping[bytes, bytes]
    Launch = tuple[list[bytes], dict[bytes, bytes]]

# The claim that an aspect is enforced. Any other text is the reason why the aspect is not claimed.
FULLY = "fully"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
EVERYTHING = dict.fromkeys(
    ("fs-write", "fs-metadata", "process", "network", "ipc", "kernel"), FULLY
)


class Missing(Exception):
    """Raised if the product is not installed. The message names the missing program or file."""


class Asked:
    """The permissions of the programs of a session.

    root, cwd: absolute, canonical paths.
    writable: directories that may be changed, including all paths below them.
    read_only, hidden: paths in the workspace that must not be changed, or not be read.
    network: True if programs may use the network.
    egress: the destinations HOST:PORT that programs may reach, or None for no limit.
    """

    def __init__(
        self,
        root: str,
        cwd: str,
        profile: str,
        egress: Sequence[str] | None = None,
        denied: Denied | None = None,
    ) -> None:
        self.root = root
        self.cwd = cwd
        self.profile = profile
        self.egress = [*egress] if egress and egress != ["*"] else None
        self.read_only = denied.write if denied else []
        self.hidden = denied.read if denied else []
        granted = [root] if denied is None or denied.writable is None else denied.writable
        self.writable = [] if profile == "read-only" else [*granted]
        self.network = profile not in ("no-network", "ci-only")
        cache = os.path.join(os.path.realpath(os.path.expanduser("~")), ".cache")
        # If the cache lies in the root, the permission for the root covers it. A program may have
        # replaced it by a link, so it gets no separate permission.
        if profile == "full-dev" and os.path.isdir(cache) and not cache.startswith(f"{root}/"):
            self.writable.append(cache)


class Adapter:
    """One product.

    about: a description in one line.
    homepage: the address of the product's page.
    documents: the document from which the command line is taken.
    mechanism: the parts of its mechanism, joined by `+`.
    control: True if it is no sandbox, so that the suite must find failures.
    program: the executable.
    native: a pattern, below the product's own folder, of the program that a script becomes. To
        start node for the script of an npm package takes most of the time of a start.
    installs: commands; `{home}` stands for the product's own folder. `versioned` replaces the place
        of a version.
    claims: for each aspect FULLY, or the reason from its documents. An aspect without an entry is
        not claimed.
    environment: variables that each program gets.
    variable: the words before `--` that set one variable of the program, with `{name}` and
        `{value}`. Empty if the product has no such option; env(1) then sets the variables inside.
    unset: the words that remove a variable of the launcher from the program's environment.
    reads_words: the option that reads words from a descriptor, separated by null bytes. Without it
        each user of the host can read the variables on the command line.
    denies: `modify` and `read`, if the product can close single paths in the workspace for this
        operation. The adapter then passes on `asked.read_only` and `asked.hidden`.
    special: characters that no path in these options may have, because the product reads them as
        parts of a pattern or of the option.
    egress: FULLY or a reason, if the adapter passes on `asked.egress`.
    lacks: features for which the documents have no option. They are not tested: `open network`,
        `cache`, or the name of a profile.
    """

    about = ""
    homepage = ""
    documents = ""
    mechanism = "unknown"
    control = False
    program = ""
    native = ""
    version_words: Sequence[str] = ("--version",)
    installs: Sequence[Sequence[str]] = ()
    claims: Mapping[str, str] = {}
    environment: Mapping[str, str] = {}
    variable: Sequence[str] = ()
    unset: Sequence[str] = ()
    reads_words = ""
    denies: frozenset[str] = frozenset()
    special = ""
    egress = ""
    lacks: Sequence[str] = ()

    def __init__(self, name: str) -> None:
        """Find the product's own folder.

        name: the name of the adapter's file; NAME@VERSION is one version of the product.
        """
        self.name = name
        self.installs = versioned(self.installs, name.partition("@")[2])
        self.home = os.path.join(cache_folder(), "products", name)
        self._opened: list[int] = []
        self._found: str | None = None

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        """Return the command that runs argv in the sandbox."""
        raise NotImplementedError

    def launch(self, words: list[bytes], program: list[bytes], env: Environment) -> Launch:
        """Return the command and the environment of the launcher.

        The launcher runs outside of the sandbox. So it must not get the program's variables:
        LD_PRELOAD, for example, would make it load a file of the workspace.
        """
        own = {name: value for name, value in caller_environment().items() if is_kept(name)}
        gone = [name for name in own if name not in env]
        if self.variable:
            end = words.index(b"--")
            given = [word for name in gone for word in filled(self.unset, name, b"")]
            for name, value in env.items():
                given += filled(self.variable, name, value)
            if self.reads_words:
                given = [self.reads_words.encode(), self._descriptor(given)]
            return [*words[:end], *given, *words[end:]], own
        if words[len(words) - len(program) :] != program:
            # env(1) cannot be put before the program here, because the adapter does not pass the
            # program's words as the last words.
            return words, dict(env)
        inside, carried = passed_on(gone, env)
        return [*words[: len(words) - len(program)], *inside, *program], {**own, **carried}

    def _descriptor(self, words: Sequence[bytes]) -> bytes:
        """Return the number of a descriptor. The launcher reads these words from it."""
        made = os.memfd_create("words", 0)
        self._opened.append(made)
        os.write(made, b"".join(word + b"\0" for word in words))
        os.lseek(made, 0, os.SEEK_SET)
        return str(made).encode()

    def close(self) -> None:
        """Close the descriptors of the last launch. No later program may inherit them."""
        while self._opened:
            os.close(self._opened.pop())

    def claimed(self, asked: Asked) -> Mapping[str, str]:
        """Return the claims. An adapter overrides this method if its claims depend on the
        request."""
        return self.claims

    def additions(self, asked: Asked) -> Mapping[str, str]:
        """Return additional variables for each program. TMPDIR is always a writable directory."""
        writable = {"TMPDIR": asked.root} if asked.root in asked.writable else {}
        return {**writable, **self.environment}

    def found(self) -> str:
        """Return the path of the program: the installed copy, or else the one on PATH.

        It is searched only once, because a call may write a program of the same name to a folder of
        PATH.
        """
        if self._found is None:
            self._found = self._search()
        return self._found

    def _search(self) -> str:
        own = [os.path.join(self.home, *below) for below in (("bin",), ("node_modules", ".bin"))]
        path = os.pathsep.join([*own, os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
        natives = (
            glob.glob(os.path.join(glob.escape(self.home), self.native)) if self.native else []
        )
        if len(natives) == 1 and os.access(natives[0], os.X_OK):
            return natives[0]
        program = shutil.which(self.program, path=path)
        if program is None:
            for folder in own:
                expect_reachable(os.path.join(folder, self.program))
            raise Missing(f"there is no program {self.program}")
        return program

    def below(self, *path: str) -> str:
        """Return the path of a file in the product's own folder."""
        place = os.path.join(self.home, *path)
        expect_reachable(place)
        if not os.path.exists(place):
            raise Missing(f"there is no {place}")
        return place

    def state(self) -> str:
        """Return a folder for files that the product itself writes.

        The folder is not in the HOME of a run, because there a file would count as an escape of the
        program. It is not below /tmp either, because many products replace /tmp.
        """
        import pwd

        user = pwd.getpwuid(os.geteuid()).pw_dir
        # Some users have no home directory.
        place = os.path.join(user, ".cache") if os.access(user, os.W_OK) else "/var/tmp"
        folder = os.path.join(place, f"state-{os.geteuid()}", "products", self.name)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if os.stat(os.path.dirname(os.path.dirname(folder))).st_uid != os.geteuid():
            raise Missing(f"{folder} belongs to another user")
        return folder

    def keep(self, name: str, text: str) -> str:
        """Write this text to a file and return the path. Different texts get different files."""
        import hashlib

        folder = os.path.join(self.state(), "given")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, f"{hashlib.sha256(text.encode()).hexdigest()[:16]}-{name}")
        if not os.path.exists(path):
            with open(f"{path}.{os.getpid()}", "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(file.name, path)
        return path

    def version(self) -> str:
        """Return the version that the product prints. It is the first number with a dot."""
        ended = starting.run([self.found(), *self.version_words], own_group=True)
        text = (ended.stdout + ended.stderr).decode("utf-8", "replace")
        number = re.search(r"\d+(\.\d+)+\S*", text)
        return number.group().rstrip(",;)") if number else "unknown"


def passed_on(gone: Sequence[bytes], env: Environment) -> Launch:
    """Return words that set the program's variables inside, and the launcher's variables that carry
    the values.

    On a command line each user of the host could read the values. In the launcher the variables
    have names without a meaning.
    """
    carried = {
        f"B{number}".encode(): name + b"=" + value
        for number, (name, value) in enumerate(env.items())
    }
    text = b"exec /usr/bin/env " + b" ".join(b"-u " + name for name in [*carried, *gone])
    text += b" -- " + b" ".join(b'"$' + name + b'"' for name in carried) + b' "$@"'
    return [b"/bin/sh", b"-c", text, b"sh"], carried


def filled(form: Sequence[str], name: bytes, value: bytes) -> list[bytes]:
    """Return the words that set one variable."""
    put = {b"{name}": name, b"{value}": value}
    return [
        re.sub(rb"\{name\}|\{value\}", lambda found: put[found[0]], os.fsencode(word))
        for word in form
    ]


def versioned(installs: Sequence[Sequence[str]], version: str) -> Sequence[Sequence[str]]:
    """Return the commands that install this version, or the newest version if `version` is empty.

    `{@version}` and `{==version}` stand for `@1.2` and `==1.2`, or for nothing; `{version}` for
    `1.2` or `latest`.
    """
    put = {"{version}": version or "latest"}
    for sign in ("@", "=="):
        put[f"{{{sign}version}}"] = f"{sign}{version}" if version else ""
    return [[_put(word, put) for word in words] for words in installs]


def _put(word: str, put: Mapping[str, str]) -> str:
    for name, value in put.items():
        word = word.replace(name, value)
    return word


def cache_folder() -> str:
    """Return the folder of installed products. It must agree with boxspec.places.cache."""
    if not os.path.isfile(os.path.join(ROOT, "launch.py")):
        return os.path.join(ROOT, "build")
    named = os.environ.get("XDG_CACHE_HOME", "")
    base = named if named.startswith("/") else os.path.expanduser("~/.cache")
    return os.path.join(base, "boxspec")


def expect_reachable(place: str) -> None:
    """Raise Missing with the reason if the file exists, but this user cannot reach it."""
    try:
        os.stat(place)
    except FileNotFoundError:
        return
    except OSError as why:
        target = os.readlink(place) if os.path.islink(place) else place
        problem = f"{place} is installed, but this user cannot reach {target}"
        raise Missing(f"{problem}: {reason_of(why)}") from None


def which(program: str) -> str:
    """Return the path of another program that an adapter needs."""
    found = shutil.which(program)
    if found is None:
        raise Missing(f"there is no program {program}")
    return found
