"""The default rows, for a caller who states no expectations.

Each row is an action that a program can do to the account of its own user, but not to the account
of another user.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import termios
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from boxspec.verify.arguments import ROW as ARGUMENTS
from boxspec.verify.arguments import Arguments, ExecutedWords
from boxspec.verify.executed import (
    CACHED,
    PROJECT,
    SETTINGS,
    SETTINGS_WITH_SECRETS,
    STARTED,
    WRITTEN,
    folders_of_programs,
)
from boxspec.verify.host import MEMORY
from boxspec.verify.inherited import Inherited, PipedVariables
from boxspec.verify.kernel import kernel_targets
from boxspec.verify.known_secrets import SECRETS
from boxspec.verify.left import Objects
from boxspec.verify.paths import Place
from boxspec.verify.planting import Planted
from boxspec.verify.proxies import Proxies
from boxspec.verify.reaching import (
    INTERNET,
    LOCAL,
    Leftovers,
    Processes,
    Services,
    SocketsOfTheUser,
    Typing,
    sockets_of_the_host,
)
from boxspec.verify.reading import Environments, ReadFile, ReadFolder, Variable, leaks
from boxspec.verify.remains import Remains
from boxspec.verify.resolving import Resolver, can_be_asked
from boxspec.verify.row import DEFAULT, Attempt, Row, Target
from boxspec.verify.scene import TEMPORARY, Scene
from boxspec.verify.system_files import folders_of_the_system, system_files
from boxspec.verify.terminal import open_terminal
from boxspec.verify.working import GitCommit, Ordinary, Workspace
from boxspec.verify.writing import (
    BESIDE,
    METADATA,
    ONLY_ROOT,
    OUTSIDE,
    AppendTo,
    HooksOfSettings,
    NewFile,
    NewFileOfGit,
    OpenHostFileToWrite,
    Probes,
    TemporaryFiles,
    UnnamedHostFile,
    WriteFile,
    WriteFolder,
)

VARIABLES = (
    *("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "NPM_TOKEN", "OPENAI_API_KEY"),
    *("ANTHROPIC_API_KEY", "DATABASE_PASSWORD"),
    # These names contain no TOKEN, SECRET, KEY or PASSWORD, so a denylist of such patterns misses
    # them.
    *("DATABASE_URL", "CI_JOB_JWT", "MYSQL_PWD", "SENTRY_DSN"),
)
# Files of a workspace that set variables for one machine, one purpose or one part.
ENV_VARIANTS = (".env.local", ".env.production", ".envrc", "api/.env")
OTHER_USER = 12345
FAMILIES = {
    "secrets": ("ssh-keys", *SECRETS, "env-files", "env-variants", "other-users"),
    "environment": ("environment", "environments"),
    "writes": (
        *("kernel", "outside", "metadata", "temporary", "start-files", "git-hooks"),
        "git-redirects",
        *("tool-settings", "caches", "planted"),
    ),
    "network": ("network", "proxies", "sockets", "resolver"),
    "processes": ("processes", ARGUMENTS, "terminal", "leftovers", "objects", "remains"),
}


def home_files(names: Iterable[str]) -> tuple[Target, ...]:
    """Return the targets for these files in the home directory. The first file is tried in every
    known way."""
    places = tuple(Place("~", name) for name in names)
    files = (ReadFile(place, number == 0) for number, place in enumerate(places))
    return (*files, Inherited(places))


def rows() -> list[Row]:
    """Return the default rows that apply to this host and this user."""
    made = [_secrets_of_ssh(), *_other_secrets(), *_environment(), *_writes(), *_reach()]
    usual = (Workspace(), Ordinary(), Arguments(), *_git())
    made.append(_row("work", "ordinary work", 20, usual, True))
    return made


def work() -> Row:
    """Return the row about ordinary work. It is added to the expectations of a caller."""
    return _row("work", "ordinary work", 20, (Workspace(), Ordinary()), True)


def witnesses() -> list[Row]:
    """Return rows that show whether the command confines a shell in the same way as the probes."""
    written = _row("outside", "write outside the workspace", 0, (Probes(("w_append",)),))
    reached = _row("network", "reach a TCP service", 0, (Services(("n_tcp4",)),))
    return [written, reached]


def _row(
    name: str, title: str, weight: int, targets: tuple[Target, ...], allowed: bool = False
) -> Row:
    family = next((family for family, names in FAMILIES.items() if name in names), "")
    return Row(name, title, weight, DEFAULT, ("--row", name), targets, allowed, family=family)


def _secrets_of_ssh() -> Row:
    keys, config = ReadFolder(Place("~", ".ssh"), "id_ed25519"), Place("~", ".ssh/config")
    inherited = Inherited((Place("~", ".ssh/id_ed25519"), config))
    return _row("ssh-keys", "read SSH keys", 100, (keys, ReadFile(config), inherited))


def _other_secrets() -> list[Row]:
    made = [
        _row(name, f"read {title}", 95 - number, home_files(files))
        for number, (name, (title, files)) in enumerate(SECRETS.items())
    ]
    env = Place(".", ".env")
    variables = (ReadFile(env, thorough=True), Inherited((env,)))
    made.append(_row("env-files", "read .env in the workspace", 88, variables))
    places = tuple(Place(".", name) for name in ENV_VARIANTS)
    variants = (*map(ReadFile, places), Inherited(places))
    made.append(_row("env-variants", "read .env.local, .envrc, sub/.env", 81, variants))
    if os.geteuid() == 0:
        made.append(_row("other-users", "read files of other users", 70, (OtherUser(),)))
    return made


def _environment() -> list[Row]:
    own = (*(Variable(name) for name in VARIABLES), PipedVariables(VARIABLES))
    others = (Environments(VARIABLES[0]),)
    return [
        _row("environment", "read secrets in the environment", 87, own),
        _row("environments", "read environments in /proc", 86, others),
    ]


def _writes() -> list[Row]:
    outside: list[Target] = [Probes(OUTSIDE), Probes(BESIDE, beside=True)]
    outside.append(Probes(("z_remount_write",), late=True))
    if os.geteuid() == 0:
        outside += [Probes(ONLY_ROOT)]
    outside += [OpenHostFileToWrite(path) for path in system_files(_home())]
    outside += [UnnamedHostFile(path) for path in folders_of_the_system()]
    shells: tuple[Target, ...] = (
        *(WriteFile(Place("~", name)) for name in WRITTEN[:2]),
        *(NewFile(Place("~", name)) for name in STARTED),
        *(NewFile(Place("~", f"{name}/ls")) for name in folders_of_programs()),
        WriteFile(Place("~", ".ssh/authorized_keys")),
        Inherited(tuple(Place("~", name) for name in WRITTEN), writes=True),
    )
    hooks: tuple[Target, ...] = (
        WriteFolder(Place(".", ".git/hooks"), "pre-commit"),
        WriteFile(Place(".", ".git/config")),
        WriteFile(Place("~", ".gitconfig")),
        NewFile(Place("~", ".config/git/config")),
        HooksOfSettings(),
    )
    redirects: tuple[Target, ...] = (
        # git takes the hooks and settings of a submodule from here.
        NewFileOfGit(Place(".", ".git/modules/a/hooks/post-checkout")),
        # If this file exists, git takes hooks and settings from the folder that it names.
        NewFileOfGit(Place(".", ".git/commondir")),
    )
    settings: tuple[Target, ...] = (
        *(NewFile(Place(".", name)) for name in PROJECT),
        WriteFile(Place("~", ".claude/settings.json")),
        WriteFile(Place("~", ".codex/config.toml")),
        *(NewFile(Place("~", name)) for name in SETTINGS),
        *(AppendTo(Place("~", name)) for name in SETTINGS_WITH_SECRETS),
    )
    caches = tuple(NewFile(Place("~", name)) for name in CACHED)
    takes_over = kernel_targets()
    kernel = [_row("kernel", "change the kernel, open disks", 101, takes_over)]
    # Few commands execute files of the workspace, so the row is usually held without a sandbox too.
    planted = _row("planted", "plant what the next start runs", 97, (Planted(),))
    return [
        *(kernel if takes_over else []),
        _row("outside", "write outside the workspace", 99, tuple(outside)),
        _row("temporary", "read, change temporary files", 58, _temporary_files()),
        _row("metadata", "change modes, times outside", 60, (Probes(METADATA),)),
        _row("start-files", "write what a login runs", 98, shells),
        _row("git-hooks", "write git hooks, config", 85, hooks),
        _row("git-redirects", "lead git to other hooks, config", 80, redirects),
        _row("tool-settings", "write editor, agent settings", 84, settings),
        _row("caches", "write caches of programs", 57, caches),
        replace(planted, planted=True, passes_without_sandbox=True),
    ]


def _temporary_files() -> tuple[Target, ...]:
    """Return the targets in the folders for temporary files.

    In /var/tmp only changes count, because many commands let programs read /var/tmp with the rest
    of the system. Files in /dev/shm are the memory that running programs share.
    """
    places = [TemporaryFiles(TEMPORARY)]
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK):
        places.append(TemporaryFiles(MEMORY))
    var = Path("/var/tmp")
    if var.is_dir() and var.resolve() != TEMPORARY.resolve() and os.access(var, os.W_OK):
        places.append(TemporaryFiles(var, only_changes=True))
    return tuple(places)


def _home() -> Path:
    """Return the home directory of the caller, or / if there is none."""
    with contextlib.suppress(RuntimeError):
        return Path.home()
    return Path("/")


def _reach() -> list[Row]:
    sockets = (Services(tuple(LOCAL)), SocketsOfTheUser(), *sockets_of_the_host())
    made = [
        _row("network", "reach TCP and UDP services", 75, (Services(tuple(INTERNET)),)),
        _row("sockets", "reach Unix sockets", 74, sockets),
        _row("processes", "touch other processes", 83, (Processes(),)),
        _row("leftovers", "outlive the command", 50, (Leftovers(),)),
        _row("objects", "leave memory, queues, cgroups", 48, (Objects(),)),
    ]
    # These rows are usually held without a sandbox too: most commands run no proxy, and few
    # programs leave anything.
    proxies = _row("proxies", "reach services by a proxy", 76, (Proxies(),))
    made.append(replace(proxies, passes_without_sandbox=True))
    # Few commands give words of the program to a shell outside.
    executed = _row(ARGUMENTS, "execute the program's words outside", 94, (ExecutedWords(),))
    made.append(replace(executed, passes_without_sandbox=True))
    if _terminal_takes_input():
        typing = _row("terminal", "type into your terminal", 96, (Typing(),))
        made.append(replace(typing, terminal=True))
    if can_be_asked():
        made.append(
            replace(_row("resolver", "ask a resolver (DNS)", 73, (Resolver(),)), apart=True)
        )
    remains = _row("remains", "leave files, sockets, processes", 49, (Remains(),))
    made.append(replace(remains, idle=True, passes_without_sandbox=True))
    return made


def _git() -> tuple[Target, ...]:
    return (GitCommit(),) if shutil.which("git") else ()


def _terminal_takes_input() -> bool:
    """Return False if the kernel refuses TIOCSTI to all processes (dev.tty.legacy_tiocsti)."""
    ours, theirs = open_terminal()
    try:
        # Root may use TIOCSTI on any terminal. For other users the test needs their controlling
        # terminal, which the start provides.
        if os.geteuid() != 0:
            setting = Path("/proc/sys/dev/tty/legacy_tiocsti")
            return not setting.exists() or setting.read_text().strip() == "1"
        fcntl.ioctl(theirs, termios.TIOCSTI, b"x")
        return True
    except OSError:
        return False
    finally:
        os.close(ours)
        os.close(theirs)


@dataclass(frozen=True)
class OtherUser(Target):
    """A file that only its owner, another user, may read. Root can read it without a sandbox."""

    def attempts(self, scene: Scene) -> list[Attempt]:
        path = scene.base / "other" / "key"
        token = scene.decoy(path)
        path.chmod(0o600)
        for each in (path, path.parent):
            os.chown(each, OTHER_USER, OTHER_USER)
        path.parent.chmod(0o700)
        effects = leaks(token, "a file that only another user may read was read")
        return [Attempt("r_secret", "a file of another user", {"path": path}, effects)]
