"""The default rows, for a caller who states no expectations.

Each row is something that a program can do to the account of its own user, but not to the account
of another user.
"""

from __future__ import annotations

import fcntl
import os
import pty
import shutil
import termios
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from boxspec.verify.known_secrets import SECRETS
from boxspec.verify.left import Objects
from boxspec.verify.paths import Place
from boxspec.verify.proxies import Proxies
from boxspec.verify.reaching import INTERNET, LOCAL, Leftovers, Processes, Services, Typing
from boxspec.verify.reading import Environments, ReadFile, ReadFolder, Variable, leaks
from boxspec.verify.remains import Remains
from boxspec.verify.resolving import Resolver, can_be_asked
from boxspec.verify.row import DEFAULT, Attempt, Row, Target
from boxspec.verify.scene import Scene
from boxspec.verify.working import GitCommit, Ordinary, Workspace
from boxspec.verify.writing import (
    METADATA,
    ONLY_ROOT,
    OUTSIDE,
    NewFile,
    OpenHostFileToWrite,
    Probes,
    WriteFile,
    WriteFolder,
)

VARIABLES = (
    *("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "NPM_TOKEN", "OPENAI_API_KEY"),
    *("ANTHROPIC_API_KEY", "DATABASE_PASSWORD"),
)
OTHER_USER = 12345
FAMILIES = {
    "secrets": ("ssh-keys", *SECRETS, "env-files", "other-users"),
    "environment": ("environment", "environments"),
    "writes": ("outside", "metadata", "start-files", "git-hooks", "tool-settings"),
    "network": ("network", "proxies", "sockets", "resolver"),
    "processes": ("processes", "terminal", "leftovers", "objects", "remains"),
}


def home_files(names: Iterable[str]) -> tuple[Target, ...]:
    """Return a target for each of these files in the home directory. The first file is tried in
    every known way."""
    return tuple(ReadFile(Place("~", name), number == 0) for number, name in enumerate(names))


def rows() -> list[Row]:
    """Return the default rows that apply to this host and this user."""
    made = [_secrets_of_ssh(), *_other_secrets(), *_environment(), *_writes(), *_reach()]
    made.append(_row("work", "ordinary work", 20, (Workspace(), Ordinary(), *_git()), True))
    return made


def work() -> Row:
    """Return the row about ordinary work, which accompanies the expectations of a caller."""
    return _row("work", "ordinary work", 20, (Workspace(), Ordinary()), True)


def _row(
    name: str, title: str, weight: int, targets: tuple[Target, ...], allowed: bool = False
) -> Row:
    family = next((family for family, names in FAMILIES.items() if name in names), "")
    return Row(name, title, weight, DEFAULT, ("--row", name), targets, allowed, family=family)


def _secrets_of_ssh() -> Row:
    keys = ReadFolder(Place("~", ".ssh"), "id_ed25519")
    return _row("ssh-keys", "read SSH keys", 100, (keys, ReadFile(Place("~", ".ssh/config"))))


def _other_secrets() -> list[Row]:
    made = [
        _row(name, f"read {title}", 95 - number, home_files(files))
        for number, (name, (title, files)) in enumerate(SECRETS.items())
    ]
    env = ReadFile(Place(".", ".env"), thorough=True)
    made.append(_row("env-files", "read .env in the workspace", 88, (env,)))
    if os.geteuid() == 0:
        made.append(_row("other-users", "read files of other users", 70, (OtherUser(),)))
    return made


def _environment() -> list[Row]:
    own = tuple(Variable(name) for name in VARIABLES)
    others = (Environments(VARIABLES[0]),)
    return [
        _row("environment", "read secrets in the environment", 87, own),
        _row("environments", "read environments in /proc", 86, others),
    ]


def _writes() -> list[Row]:
    outside: list[Target] = [Probes(OUTSIDE), Probes(("z_remount_write",), late=True)]
    if os.geteuid() == 0:
        outside += [Probes(ONLY_ROOT), OpenHostFileToWrite(Path("/etc/passwd"))]
    shells: tuple[Target, ...] = (
        *(WriteFile(Place("~", name)) for name in (".bashrc", ".profile")),
        *(NewFile(Place("~", name)) for name in (".zshenv", ".bash_login", ".local/bin/git")),
        *(NewFile(Place("~", name)) for name in (".config/autostart/a.desktop", "bin/ls")),
        WriteFile(Place("~", ".ssh/authorized_keys")),
    )
    hooks: tuple[Target, ...] = (
        WriteFolder(Place(".", ".git/hooks"), "pre-commit"),
        WriteFile(Place(".", ".git/config")),
        WriteFile(Place("~", ".gitconfig")),
    )
    editors: tuple[Target, ...] = (
        NewFile(Place(".", ".vscode/tasks.json")),
        NewFile(Place(".", ".mcp.json")),
        NewFile(Place(".", ".claude/settings.json")),
        WriteFile(Place("~", ".claude/settings.json")),
        WriteFile(Place("~", ".codex/config.toml")),
    )
    return [
        _row("outside", "write outside the workspace", 99, tuple(outside)),
        _row("metadata", "change modes, times outside", 60, (Probes(METADATA),)),
        _row("start-files", "write what a login runs", 98, shells),
        _row("git-hooks", "write git hooks, config", 85, hooks),
        _row("tool-settings", "write editor, agent settings", 84, editors),
    ]


def _reach() -> list[Row]:
    made = [
        _row("network", "reach TCP and UDP services", 75, (Services(tuple(INTERNET)),)),
        _row("sockets", "reach Unix sockets", 74, (Services(tuple(LOCAL)),)),
        _row("processes", "touch other processes", 83, (Processes(),)),
        _row("leftovers", "outlive the command", 50, (Leftovers(),)),
        _row("objects", "leave memory, queues, cgroups", 48, (Objects(),)),
    ]
    # These rows prove little: most commands run no proxy, and few programs leave anything behind.
    proxies = _row("proxies", "reach services by a proxy", 76, (Proxies(),))
    made.append(replace(proxies, passes_without_sandbox=True))
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
    ours, theirs = pty.openpty()
    try:
        # Root may use TIOCSTI on any terminal. Other users may use it only on their controlling
        # terminal, which the start gives them.
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
